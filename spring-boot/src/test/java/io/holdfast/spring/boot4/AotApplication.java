package io.holdfast.spring.boot4;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spring.LockKey;
import io.holdfast.spring.Locked;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.Transactional;

/** Processed ahead of time by {@link AotTest}, and run from what that made. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class AotApplication {

    /** An argument whose property is a key. */
    public record Request(long siteId) {}

    public static class Work {

        private final LockClient client;

        Work(LockClient client) {
            this.client = client;
        }

        @Transactional
        @Locked(name = "report", key = "#request.siteId", waitTime = "${work.wait:5s}", fallback = "instead")
        public String report(Request request, @Nullable Lease lease) {
            return client.localLocks().get(0).name() + " by " + (lease.fencingToken() > 0);
        }

        @SuppressWarnings("UnusedMethod") // called by reflection
        private String instead() {
            return "instead";
        }

        @Locked("marked")
        public String marked(@LockKey String tenant) {
            return client.localLocks().get(0).name();
        }
    }

    @Bean
    Work work(LockClient client) {
        return new Work(client);
    }

    @SuppressWarnings("SystemOut") // read by the test
    public static void main(String[] args) {
        try (ConfigurableApplicationContext context = SpringApplication.run(AotApplication.class, args)) {
            Work work = context.getBean(Work.class);
            System.out.println("answer " + work.report(new Request(17), null) + ", " + work.marked("t1") + ", "
                    + work.getClass().getSimpleName());
        }
    }
}
