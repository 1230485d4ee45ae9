package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.StoreException;
import io.holdfast.testkit.servers.RedisCluster;
import io.holdfast.testkit.servers.RedisServer;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An orderly close lets the driver log no warning: a reader of the log would look for a fault. */
class QuietCloseTest {

    private static final int ROUNDS = 20;
    private static final int ROUNDS_OF_CLUSTER = 5;
    private static final Duration HANDSHAKE = Duration.ofMillis(100);
    private static final Pattern LOGGED = Pattern.compile("(?:WARN|ERROR) io\\.(?:netty|lettuce)\\.");

    @Test
    void anOrderlyCloseInModeCommands() {
        try (RedisServer server = RedisServer.start();
                DriverLog log = new DriverLog()) {
            for (int i = 0; i < ROUNDS; i++) {
                try (TestClient client = new TestClient(server.uri() + "?mode=commands")) {
                    assertThat(client.release("n", client.hold("n"))).isTrue();
                }
            }
            assertThat(log.lines()).isEmpty();
        }
    }

    @Test
    @Tag("deep") // quick: anOrderlyCloseInModeCommands
    void anOrderlyCloseInACluster() {
        try (RedisCluster cluster = RedisCluster.builder().masters(3).start();
                DriverLog log = new DriverLog()) {
            for (int i = 0; i < ROUNDS_OF_CLUSTER; i++) {
                try (TestClient client = new TestClient(cluster.uri())) {
                    assertThat(client.release("n", client.hold("n"))).isTrue();
                }
            }
            assertThat(log.lines()).isEmpty();
        }
    }

    /**
     * A failed opening is reported by an exception. The driver ends the handshake of the refused connection later. By
     * then the thread of that connection may have ended, although the application shares its threads.
     */
    @Test
    void aFailedOpeningOnSharedThreads() throws Exception {
        ClientResources shared = DefaultClientResources.create();
        try (DriverLog log = new DriverLog()) {
            for (String host : List.of("localhost", "127.0.0.1", "no-host.invalid")) {
                RedisStores.Builder store = RedisStores.standalone(RedisURI.create(host, 1))
                        .clientResources(shared)
                        .timeout(HANDSHAKE);
                assertThatThrownBy(() -> new TestClient(store::open).close()).isInstanceOf(StoreException.class);
            }
            Thread.sleep(10 * HANDSHAKE.toMillis());
            assertThat(log.lines()).isEmpty();
        } finally {
            shared.shutdown(0, 1, TimeUnit.SECONDS).get(10, TimeUnit.SECONDS);
        }
    }

    /** What the driver and netty log at WARNING and above: in these tests, to the error stream. */
    private static final class DriverLog implements AutoCloseable {

        private final PrintStream before = System.err;
        private final ByteArrayOutputStream copy = new ByteArrayOutputStream();

        DriverLog() {
            System.setErr(new PrintStream(copy, true, StandardCharsets.UTF_8));
        }

        /** Returns the lines with the name of a logger. The stack trace that follows an error has none. */
        List<String> lines() {
            return copy.toString(StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> LOGGED.matcher(line).find())
                    .toList();
        }

        @Override
        public void close() {
            System.setErr(before);
            before.print(copy.toString(StandardCharsets.UTF_8));
        }
    }
}
