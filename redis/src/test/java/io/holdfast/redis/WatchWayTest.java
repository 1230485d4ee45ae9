package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.RedisServer;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What can happen between GET and EXEC, and how the connections for that are lent. */
class WatchWayTest {

    private final BlockingQueue<Runnable> second = new LinkedBlockingQueue<>();
    private RedisServer server;
    private ServerConnections connections;
    private DedicatedConnections dedicated;
    private WatchWay way;

    @BeforeEach
    void connect() throws Exception {
        server = RedisServer.start();
        RedisSettings settings = RedisUris.parse(URI.create(server.uri()));
        connections = new ServerConnections(settings, TimeSource.system());
        connections.connect(() -> {}).toCompletableFuture().get(10, TimeUnit.SECONDS);
        dedicated = new DedicatedConnections(
                connections::dedicated,
                connections::server,
                TimeSource.system(),
                settings.timeout(),
                new RedisErrors(settings.describe(), settings.timeout()));
        way = new WatchWay(dedicated, true, second::add);
        server.command("SET", "n", "mine", "PX", "60000");
    }

    @AfterEach
    void disconnect() {
        dedicated.close();
        connections.close();
        server.close();
    }

    @Test
    void whatSomebodyTookMeanwhileIsLeftAlone() throws Exception {
        var deleting = way.delete("n", "mine", "c").toCompletableFuture();
        Runnable rest = second.take();
        server.command("SET", "n", "theirs", "PX", "60000");
        rest.run();
        second.take().run(); // EXEC was refused, so it looked again
        assertThat(deleting.get(10, TimeUnit.SECONDS).done()).isFalse();
        assertThat(server.command("GET", "n")).isEqualTo("theirs");
    }

    /** EXEC is refused then, too, and the next try succeeds. */
    @Test
    void aHarmlessChangeIsNoReasonToGiveUp() throws Exception {
        var deleting = way.delete("n", "mine", "c").toCompletableFuture();
        Runnable rest = second.take();
        server.command("PEXPIRE", "n", "50000");
        rest.run();
        second.take().run();
        assertThat(deleting.get(10, TimeUnit.SECONDS).done()).isTrue();
        assertThat(server.command("GET", "n")).isNull();
    }

    /** On a connection that had come back by itself nothing would be watched, and EXEC would delete theirs. */
    @Test
    void aLostConnectionDeletesNothing() throws Exception {
        var deleting = way.delete("n", "mine", "c").toCompletableFuture();
        Runnable rest = second.take();
        server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        server.command("SET", "n", "theirs", "PX", "60000");
        // The shared connection is back, so one like it would be, too.
        await().atMost(10, TimeUnit.SECONDS).until(this::isConnected);
        rest.run();
        assertThatThrownBy(() -> deleting.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(Exception.class);
        assertThat(server.command("GET", "n")).isEqualTo("theirs");
        assertThat(dedicated.size()).isZero();
    }

    /** Its rights may have been changed meanwhile: DEL alone would delete theirs. */
    @Test
    void aServerThatRefusesMultiDeletesNothing() throws Exception {
        var deleting = way.delete("n", "mine", "c").toCompletableFuture();
        Runnable rest = second.take();
        server.command("SET", "n", "theirs", "PX", "60000");
        server.command("ACL", "SETUSER", "default", "-multi");
        rest.run();
        assertThatThrownBy(() -> deleting.get(10, TimeUnit.SECONDS)).hasMessageContaining("multi");
        assertThat(server.command("GET", "n")).isEqualTo("theirs");
        assertThat(dedicated.size()).isZero();
    }

    @Test
    void connectionsAreLentOnceAndNotMoreThanEight() throws Exception {
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            server.command("SET", "n" + i, "mine", "PX", "60000");
            all.add(way.set("n" + i, "mine", "mine", 50_000).toCompletableFuture());
        }
        for (int i = 0; i < 12; i++) {
            Runnable rest = Objects.requireNonNull(second.poll(10, TimeUnit.SECONDS));
            assertThat(dedicated.size()).isLessThanOrEqualTo(8);
            rest.run();
        }
        for (CompletableFuture<?> each : all) {
            assertThat(each.get(10, TimeUnit.SECONDS)).isEqualTo(true);
        }
        dedicated.beat();
        dedicated.beat();
        assertThat(dedicated.size()).isEqualTo(1);
    }

    private boolean isConnected() {
        try {
            return "PONG"
                    .equals(connections.commands().ping().toCompletableFuture().get(1, TimeUnit.SECONDS));
        } catch (Exception e) {
            return false;
        }
    }
}
