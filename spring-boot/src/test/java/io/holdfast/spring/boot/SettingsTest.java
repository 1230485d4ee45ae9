package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.LockTimeoutException;
import io.holdfast.spring.Locked;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The settings of our own, as the locks and the server show them. */
class SettingsTest {

    static class Work {
        @Locked("work")
        public void work() {}
    }

    @Test
    void prefix_mode_lease_time_and_wait_time() {
        try (RedisServer server = RedisServer.start()) {
            Contexts.boot()
                    .withBean(Work.class)
                    .withPropertyValues(
                            "spring.data.redis.port=" + server.port(),
                            "holdfast.name-prefix=shop:",
                            "holdfast.internal-prefix=store",
                            "holdfast.lease-time=7s",
                            "holdfast.wait-time=120ms")
                    .run(context -> {
                        LockClient client = context.getBean(LockClient.class);
                        try (Lease lease = client.acquire("work")) {
                            assertThat(lease.remaining()).isBetween(Duration.ofSeconds(3), Duration.ofSeconds(7));
                            assertThat(server.command("TYPE", "shop:work")).isEqualTo("hash");
                            assertThat(String.valueOf(server.command("KEYS", "*")))
                                    .contains("store:")
                                    .doesNotContain("holdfast:");
                            try (LockClient other =
                                    LockClient.connect(server.uri() + "?namePrefix=shop:&internalPrefix=store")) {
                                assertThat(other.tryAcquire("work")).isEmpty();
                            }
                        }
                        try (LockClient other =
                                        LockClient.connect(server.uri() + "?namePrefix=shop:&internalPrefix=store");
                                Lease held = other.acquire("work")) {
                            assertThatThrownBy(() -> context.getBean(Work.class).work())
                                    .isInstanceOf(LockTimeoutException.class)
                                    .hasMessageContaining("120 ms");
                            assertThat(held.isValid()).isTrue();
                        }
                    });
            Contexts.boot()
                    .withPropertyValues("spring.data.redis.port=" + server.port(), "holdfast.mode=commands")
                    .run(context -> {
                        try (Lease lease = context.getBean(LockClient.class).acquire("plain")) {
                            assertThat(server.command("TYPE", "lock:plain")).isEqualTo("string");
                            assertThat(lease.isValid()).isTrue();
                        }
                    });
            Contexts.boot()
                    .withPropertyValues(
                            "spring.data.redis.port=" + server.port(),
                            "holdfast.min-replicas=1",
                            "holdfast.command-timeout=2s",
                            "holdfast.store-timeout=1s")
                    .run(context -> assertThatThrownBy(
                                    () -> context.getBean(LockClient.class).tryAcquire("replicated"))
                            .as("there is none")
                            .isInstanceOf(LockStoreException.class));
        }
    }

    @Test
    void a_store_of_several_independent_servers() {
        try (RedisServer one = RedisServer.start();
                RedisServer two = RedisServer.start();
                RedisServer three = RedisServer.start()) {
            Contexts.boot()
                    .withBean(Work.class)
                    .withPropertyValues("holdfast.store=redlock://" + one.address() + "," + two.address() + ","
                            + three.address() + "?bootstrap=true")
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        context.getBean(Work.class).work();
                        LockHealth health = LockHealth.of(java.util.Map.of("c", context.getBean(LockClient.class)));
                        assertThat(health.up()).isTrue();
                        assertThat(health.details()).containsEntry("members", 3).containsEntry("voting", 3);
                        two.kill();
                        context.getBean(Work.class).work();
                        LockHealth without = LockHealth.of(java.util.Map.of("c", context.getBean(LockClient.class)));
                        assertThat(without.up()).isTrue();
                        assertThat(without.details()).containsEntry("voting", 2).containsKey("withoutVote");
                    });
        }
    }
}
