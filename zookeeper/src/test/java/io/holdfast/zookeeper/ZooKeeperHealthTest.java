package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreHealth;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a health page shows of the session. */
@Timeout(120)
class ZooKeeperHealthTest {

    @Test
    void tells_the_session_and_whether_it_is_connected() throws Exception {
        try (ZooKeeperEnsemble servers = ZooKeeperEnsemble.start(1);
                FaultProxy proxy = FaultProxy.to("127.0.0.1", servers.port(0));
                LockStore store = new ZooKeeperLockStoreProvider()
                        .open(
                                URI.create("zookeeper://127.0.0.1:" + proxy.port() + "?sessionTimeout=20s&timeout=6s"),
                                new StoreContext("c1", TimeSource.system()))) {
            StoreHealth connected = health(store);
            assertThat(connected.usable()).isTrue();
            assertThat(connected.details())
                    .containsEntry("session", "connected")
                    .containsEntry("sessionTimeout", "20 s")
                    .doesNotContainKey("error");
            assertThat(connected.details().get("sessionId")).asString().startsWith("0x");

            proxy.holdReplies(true);
            proxy.cutAll();
            await().atMost(Duration.ofSeconds(40)).untilAsserted(() -> {
                StoreHealth cut = health(store);
                assertThat(cut.usable()).isFalse();
                assertThat(cut.details())
                        .containsEntry("session", "suspended")
                        .containsEntry("sessionId", connected.details().get("sessionId"))
                        .containsKey("error");
            });
            proxy.holdReplies(false);
            proxy.cutAll();
            await().atMost(Duration.ofSeconds(40))
                    .untilAsserted(() -> assertThat(health(store)).isEqualTo(connected));
        }
    }

    private static StoreHealth health(LockStore store) {
        return store.health("holdfast:health").toCompletableFuture().join();
    }
}
