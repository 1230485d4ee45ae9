package io.holdfast.samples.sidebyside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.MultiLease;
import io.holdfast.testkit.servers.RedisServer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** Redisson's locks and those of an application that has moved; more in the module redis, RedissonInteropTest. */
class RedissonTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @Test
    void an_application_with_an_empty_prefix_shares_locks_and_several_at_once() throws Exception {
        try (RedisServer server = RedisServer.start();
                ConfigurableApplicationContext context = SpringApplication.run(
                        Application.class,
                        "--spring.main.banner-mode=off",
                        "--logging.level.root=warn",
                        "--spring.data.redis.url=" + server.uri(),
                        "--holdfast.name-prefix=")) {
            LockClient ours = context.getBean(LockClient.class);
            Config config = new Config();
            config.useSingleServer().setAddress(server.uri()).setConnectionMinimumIdleSize(2);
            RedissonClient theirs = Redisson.create(config);
            try {
                RLock lock = theirs.getLock("coupon:X7");
                lock.lock();
                assertThat(ours.tryAcquire("coupon:X7")).isEmpty();
                lock.unlock();
                try (Lease lease = ours.acquire("coupon:X7")) {
                    assertThat(lock.tryLock()).isFalse();
                    lease.ensureValid();
                }

                RLock both = theirs.getMultiLock(theirs.getLock("wallet:ann"), theirs.getLock("wallet:bob"));
                both.lock();
                assertThat(ours.tryAcquire("wallet:bob")).isEmpty();
                both.unlock();
                try (MultiLease leases = ours.acquireAll(List.of("wallet:bob", "wallet:ann"))) {
                    assertThat(both.tryLock()).isFalse();
                    leases.ensureValid();
                }

                // The one call that looks the same and is another.
                assertThat(lock.tryLock(0, -1, TimeUnit.SECONDS)).isTrue();
                lock.unlock();
                assertThatThrownBy(() -> ours.getLock("coupon:X7").tryLock(0, -1, TimeUnit.SECONDS))
                        .isInstanceOf(IllegalArgumentException.class);
            } finally {
                theirs.shutdown();
            }
        }
    }
}
