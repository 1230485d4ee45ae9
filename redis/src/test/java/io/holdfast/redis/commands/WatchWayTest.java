package io.holdfast.redis.commands;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.redis.connect.DedicatedConnections;
import io.holdfast.redis.connect.ServerConnections;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.RedisUris;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.servers.RedisServer;
import io.lettuce.core.api.StatefulRedisConnection;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What can happen between GET and EXEC, and how the connections for that are lent. */
public class WatchWayTest {

    private final BlockingQueue<Runnable> second = new LinkedBlockingQueue<>();
    private RedisServer server;
    private RedisSettings settings;
    private ServerConnections connections;
    private DedicatedConnections dedicated;
    private WatchWay way;

    @BeforeEach
    void connect() throws Exception {
        server = RedisServer.start();
        settings = RedisUris.parse(URI.create(server.uri()));
        connections = new ServerConnections(settings, TimeSource.system());
        connections.connect(() -> {}).toCompletableFuture().get(10, TimeUnit.SECONDS);
        dedicated = dedicated(connections::dedicated);
        way = new WatchWay(dedicated, true, second::add);
        server.command("SET", "n", "mine", "PX", "60000");
    }

    private DedicatedConnections dedicated(
            Function<String, CompletionStage<StatefulRedisConnection<String, String>>> connector) {
        return new DedicatedConnections(
                connector,
                connections::server,
                TimeSource.system(),
                new RedisErrors(settings.describe(), settings.timeout()));
    }

    @AfterEach
    void disconnect() {
        dedicated.close();
        connections.close();
        server.close();
    }

    @Test
    void whatSomebodyTookMeanwhileIsLeftAlone() throws Exception {
        var deleting = way.delete("n", "mine").toCompletableFuture();
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
        var deleting = way.delete("n", "mine").toCompletableFuture();
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
        var deleting = way.delete("n", "mine").toCompletableFuture();
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

    /** This user's rights may have been changed in the meantime: DEL alone would delete the other holder's key. */
    @Test
    void aServerThatRefusesMultiDeletesNothing() throws Exception {
        var deleting = way.delete("n", "mine").toCompletableFuture();
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
        // Those that are being pinged are not idle.
        await().atMost(10, TimeUnit.SECONDS).untilAsserted(() -> {
            dedicated.beat();
            assertThat(dedicated.size()).isEqualTo(1);
        });
    }

    /** EXEC would answer it, too, and a release that was made would be reported as unknown. */
    @Test
    void aPingNeverGetsIntoATransaction() throws Exception {
        AtomicReference<Runnable> beforeCommands = new AtomicReference<>(() -> {});
        DedicatedConnections hooked =
                dedicated(key -> connections.dedicated(key).thenApply(made -> hooked(made, beforeCommands)));
        try {
            WatchWay over = new WatchWay(hooked, true, second::add);
            var setting = over.set("n", "mine", "mine", 50_000).toCompletableFuture();
            second.take().run();
            assertThat(setting.get(10, TimeUnit.SECONDS)).isTrue();
            assertThat(hooked.size()).isEqualTo(1);

            // Somebody comes between the choice of what to ping and the PING.
            CompletableFuture<ConditionalDelete.Deletion> deleting = new CompletableFuture<>();
            BlockingQueue<Runnable> rest = new LinkedBlockingQueue<>();
            beforeCommands.set(() -> {
                beforeCommands.set(() -> {});
                var unused = over.delete("n", "mine").whenComplete((done, error) -> {
                    if (error == null) {
                        deleting.complete(done);
                    } else {
                        deleting.completeExceptionally(error);
                    }
                });
                rest.add(Objects.requireNonNull(poll()));
            });
            hooked.beat();
            rest.remove().run();
            assertThat(deleting.get(10, TimeUnit.SECONDS).done()).isTrue();
        } finally {
            hooked.close();
        }
    }

    private @Nullable Runnable poll() {
        try {
            return second.poll(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Runs something each time before the connection says what it can do. */
    @SuppressWarnings("unchecked")
    private static StatefulRedisConnection<String, String> hooked(
            StatefulRedisConnection<String, String> connection, AtomicReference<Runnable> beforeCommands) {
        return (StatefulRedisConnection<String, String>) Proxy.newProxyInstance(
                WatchWayTest.class.getClassLoader(),
                new Class<?>[] {StatefulRedisConnection.class},
                (proxy, method, args) -> {
                    if (method.getName().equals("async")) {
                        beforeCommands.get().run();
                    }
                    return method.invoke(connection, args);
                });
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
