package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.testkit.servers.RedisCluster;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Who closes a store does not always get to wait for its end. */
class InterruptedClosingTest {

    private static final int TIMES = 5;

    private Set<Thread> before;

    @BeforeEach
    void remember() {
        before = driversThreads();
    }

    @AfterEach
    void noInterruptIsLeft() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void noThreadsOfAServersClientAreLeft() {
        try (RedisServer server = RedisServer.start()) {
            closeInterrupted(server.uri());
            assertNoThreadsAreLeft();
        }
    }

    @Test
    @Tag("deep") // quick: the test above
    void noThreadsOfAClustersClientAreLeft() {
        try (RedisCluster cluster = RedisCluster.builder().replicasEach(0).start()) {
            closeInterrupted(cluster.uri());
            assertNoThreadsAreLeft();
        }
    }

    private static void closeInterrupted(String uri) {
        for (int i = 0; i < TIMES; i++) {
            TestClient client = new TestClient(uri);
            client.release("n", client.hold("n"));
            Thread.currentThread().interrupt();
            client.close();
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    private void assertNoThreadsAreLeft() {
        await().atMost(Duration.ofSeconds(10)).untilAsserted(() -> {
            Set<Thread> left = driversThreads();
            left.removeAll(before);
            assertThat(left).isEmpty();
        });
    }

    private static Set<Thread> driversThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("lettuce-"))
                .collect(Collectors.toSet());
    }
}
