package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections that die in silence while a waiter waits, as behind a firewall that has forgotten them. */
@Timeout(60)
class DeadConnectionTest {

    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands"})
    void the_store_tells_how_long_it_takes_to_notice_one(String mode) {
        try (RedisServer server = RedisServer.start()) {
            try (TestClient usual = new TestClient(server.uri() + "?mode=" + mode)) {
                assertThat(usual.store.recovery()).isEqualTo(Duration.ofSeconds(9));
            }
            try (TestClient quick = new TestClient(server.uri() + "?mode=" + mode + "&timeout=500ms")) {
                assertThat(quick.store.recovery()).isEqualTo(Duration.ofSeconds(2));
            }
        }
    }

    @Tag("deep")
    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands"})
    void a_waiter_waits_until_it_is_noticed(String mode) throws Exception {
        try (RedisServer server = RedisServer.start();
                FaultProxy proxy = FaultProxy.to(server.host(), server.port());
                LockClient waiting = LockClient.connect(proxy.uri() + "?mode=" + mode);
                LockClient near = LockClient.connect(server.uri() + "?mode=" + mode)) {
            Lease held = near.acquire("n");
            CompletableFuture<Lease> wait = waiting.acquireAsync(
                            "n", LockOptions.defaults().waitAtMost(Duration.ofSeconds(40)))
                    .toCompletableFuture();
            Thread.sleep(1_000);
            proxy.forgetAll();
            Thread.sleep(8_000);
            assertThatCode(() -> wait.getNow(null)).doesNotThrowAnyException();
            held.release();
            wait.get(20, TimeUnit.SECONDS).release();
        }
    }
}
