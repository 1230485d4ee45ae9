package io.holdfast.spring.boot3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spring.Locked;
import io.holdfast.testkit.servers.RedisServer;
import io.lettuce.core.LettuceVersion;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.management.ManagementFactory;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.health.HealthEndpoint;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A whole application on Boot 3.5: what Boot itself finds and orders, not what a test puts together. */
class OnBoot3Test {

    public static class Refunds {

        @Locked(name = "order.refund", key = "#orderId")
        public long refund(long orderId, @Nullable Lease lease) {
            return lease.fencingToken();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Refunds refunds() {
            return new Refunds();
        }
    }

    @Test
    void an_application_starts_with_locks_meters_endpoint_and_health() throws Exception {
        assertThat(SpringBootVersion.getVersion()).startsWith("3.5.");
        assertThat(LettuceVersion.getVersion()).startsWith("6.6.");
        try (RedisServer server = RedisServer.builder().password("s/e c#ret").start();
                ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                        .web(WebApplicationType.NONE)
                        .properties(
                                "spring.data.redis.host=" + server.host(),
                                "spring.data.redis.port=" + server.port(),
                                "spring.data.redis.password=s/e c#ret",
                                "management.endpoints.jmx.exposure.include=locks,health",
                                "spring.jmx.enabled=true")
                        .run()) {
            Refunds refunds = context.getBean(Refunds.class);
            long first = refunds.refund(17, null);
            assertThat(refunds.refund(17, null)).isGreaterThan(first);

            assertThat(context.getBean(LockClient.class).describeStore()).contains(":" + server.port());
            // The client's callback thread updates the meters.
            await().untilAsserted(() -> assertThat(context.getBean(MeterRegistry.class)
                            .get("holdfast.lock.acquire")
                            .tag("name", "order.refund")
                            .tag("outcome", "acquired")
                            .timer()
                            .count())
                    .isEqualTo(2));
            assertThat(ManagementFactory.getPlatformMBeanServer()
                            .invoke(
                                    new ObjectName("org.springframework.boot:type=Endpoint,name=Locks"),
                                    "lock",
                                    new Object[] {"order.refund:17"},
                                    new String[] {String.class.getName()}))
                    .asString()
                    .contains("holdfastLockClient", "locked=false");
            assertThat(context.getBean(HealthEndpoint.class)
                            .healthForPath("locks")
                            .getStatus())
                    .isEqualTo(Status.UP);
        }
    }
}
