package io.holdfast.testkit.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.RespClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FaultProxyTest {

    private static RedisServer server;
    private FaultProxy proxy;

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void open() {
        server.command("FLUSHALL");
        proxy = FaultProxy.to(server.host(), server.port());
    }

    @AfterEach
    void close() {
        proxy.close();
    }

    @Test
    void bytesPassBothWays() throws IOException {
        try (RespClient client = connect(5_000)) {
            String large = "x".repeat(1_000_000);
            assertThat(client.call("SET", "k", large)).isEqualTo("OK");
            assertThat(client.call("GET", "k")).isEqualTo(large);
        }
        assertThat(proxy.uri()).isEqualTo("redis://127.0.0.1:" + proxy.port());
    }

    @Test
    void onlyNewConnectionsAreRedirected() throws IOException {
        try (RedisServer other = RedisServer.start();
                RespClient before = connect(5_000)) {
            before.call("SET", "k", "old");
            other.command("SET", "k", "new");
            proxy.redirect(other.host(), other.port());
            try (RespClient after = connect(5_000)) {
                assertThat(after.call("GET", "k")).isEqualTo("new");
            }
            assertThat(before.call("GET", "k")).isEqualTo("old");
        }
    }

    @Test
    void aConnectionEndsWithItsClient() throws IOException {
        try (RespClient client = connect(5_000)) {
            client.call("PING");
            assertThat(proxy.connections()).isEqualTo(1);
        }
        await().until(() -> proxy.connections() == 0);
        await().until(() ->
                !String.valueOf(server.command("CLIENT", "LIST")).lines().anyMatch(line -> line.contains("cmd=ping")));
    }

    @Test
    void cutConnectionsAreClosedAndNewOnesWelcome() throws IOException {
        try (RespClient client = connect(5_000)) {
            client.call("PING");
            proxy.cutAll();
            assertThatThrownBy(() -> client.call("PING"))
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(SocketTimeoutException.class);
        }
        try (RespClient client = connect(5_000)) {
            assertThat(client.call("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void refusalIsForNewConnectionsOnly() throws IOException {
        try (RespClient client = connect(5_000)) {
            client.call("PING");
            proxy.refuse(true);
            proxy.refuse(true);
            assertThatThrownBy(() -> connect(5_000)).isInstanceOf(ConnectException.class);
            assertThat(client.call("PING")).isEqualTo("PONG");
        }
        proxy.refuse(false);
        try (RespClient client = connect(5_000)) {
            assertThat(client.call("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void heldRequestsAreExecutedWhenLetGo() throws IOException {
        try (RespClient client = connect(10_000)) {
            proxy.holdRequests(true);
            CompletableFuture<@Nullable Object> reply = callLater(client, "INCR", "n");
            await().until(() -> proxy.pendingRequestBytes() > 0);
            assertThat(server.command("GET", "n")).isNull();

            proxy.holdRequests(false);
            assertThat(reply).succeedsWithin(5, TimeUnit.SECONDS).isEqualTo(1L);
            // The proxy counts the bytes as passed on after the server has them.
            await().until(() -> proxy.pendingRequestBytes() == 0);
        }
    }

    @Test
    void aHeldRequestIsExecutedAfterItsClientHasHungUp() throws IOException {
        proxy.holdRequests(true);
        try (RespClient client = connect(300)) {
            assertThatThrownBy(() -> client.call("INCR", "n")).isInstanceOf(SocketTimeoutException.class);
        }
        assertThat(server.command("GET", "n")).isNull();

        proxy.holdRequests(false);
        await().until(() -> "1".equals(server.command("GET", "n")));
        await().until(() -> proxy.connections() == 0);
    }

    @Test
    void aHeldRequestIsLostWithItsConnection() throws IOException {
        proxy.holdRequests(true);
        try (RespClient client = connect(10_000)) {
            CompletableFuture<@Nullable Object> reply = callLater(client, "INCR", "n");
            await().until(() -> proxy.pendingRequestBytes() > 0);
            proxy.cutAll();
            assertThat(reply).failsWithin(5, TimeUnit.SECONDS);
        }
        proxy.holdRequests(false);
        await().until(() -> proxy.connections() == 0 && proxy.pendingRequestBytes() == 0);
        assertThat(server.command("GET", "n")).isNull();
    }

    @Test
    void aCommandWhoseReplyIsHeldIsExecuted() throws IOException {
        try (RespClient client = connect(10_000)) {
            proxy.holdReplies(true);
            CompletableFuture<@Nullable Object> reply = callLater(client, "INCR", "n");
            await().until(() -> proxy.pendingReplyBytes() > 0);
            assertThat(server.command("GET", "n")).isEqualTo("1");
            assertThat(reply).isNotDone();

            proxy.holdReplies(false);
            assertThat(reply).succeedsWithin(5, TimeUnit.SECONDS).isEqualTo(1L);
        }
    }

    @Test
    void aDroppedReplyNeverComes() throws IOException {
        try (RespClient client = connect(300)) {
            proxy.dropReplies(true);
            assertThatThrownBy(() -> client.call("INCR", "n")).isInstanceOf(SocketTimeoutException.class);
            assertThat(server.command("GET", "n")).isEqualTo("1");
        }
        proxy.cutAll();
        proxy.dropReplies(false);
        try (RespClient client = connect(5_000)) {
            assertThat(client.call("GET", "n")).isEqualTo("1");
        }
    }

    @Test
    void aDelayCountsOnEachWay() throws IOException {
        try (RespClient client = connect(5_000)) {
            proxy.delay(Duration.ofMillis(100));
            long start = System.nanoTime();
            client.call("PING");
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(200));

            proxy.delay(Duration.ZERO);
            assertThat(client.call("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void theEndOfTheServerEndsItsConnections() throws IOException {
        try (RedisServer mortal = RedisServer.start();
                FaultProxy front = FaultProxy.to(mortal.host(), mortal.port());
                RespClient client = RespClient.connect("127.0.0.1", front.port(), Duration.ofSeconds(5))) {
            client.call("PING");
            mortal.kill();
            assertThatThrownBy(() -> client.call("PING"))
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(SocketTimeoutException.class);

            try (RespClient second = RespClient.connect("127.0.0.1", front.port(), Duration.ofSeconds(5))) {
                assertThatThrownBy(() -> second.call("PING"))
                        .isInstanceOf(IOException.class)
                        .isNotInstanceOf(SocketTimeoutException.class);
            }
        }
    }

    @Test
    void aClosedProxyHasNoConnectionsAndTakesNone() throws IOException {
        try (RespClient client = connect(5_000)) {
            client.call("PING");
            proxy.close();
            proxy.close();
            assertThatThrownBy(() -> client.call("PING")).isInstanceOf(IOException.class);
        }
        await().until(() -> proxy.connections() == 0);
        proxy.refuse(false);
        assertThatThrownBy(() -> connect(5_000)).isInstanceOf(ConnectException.class);
    }

    private RespClient connect(int timeoutMillis) throws IOException {
        return RespClient.connect("127.0.0.1", proxy.port(), Duration.ofMillis(timeoutMillis));
    }

    private static CompletableFuture<@Nullable Object> callLater(RespClient client, String... command) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return client.call(command);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }
}
