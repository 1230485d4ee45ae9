package io.holdfast.redis.connect;

import static io.holdfast.spi.StoreException.Outcome.NOT_EXECUTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.TestClient;
import io.holdfast.redis.commands.Ability;
import io.holdfast.redis.commands.CommandsLockStore;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.ServerId;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.servers.RedisServer;
import io.lettuce.core.api.StatefulRedisConnection;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Who gets which connection, and when: but for one test, without a server. */
public class DedicatedConnectionsTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final List<String> connectedFor = new ArrayList<>();
    private final List<CompletableFuture<String>> uses = new ArrayList<>();
    private final List<Runnable> timers = new ArrayList<>();
    private final ArrayDeque<Runnable> soon = new ArrayDeque<>();
    private CompletableFuture<Boolean> connectionsAreMade = CompletableFuture.completedFuture(true);
    private final DedicatedConnections dedicated = new DedicatedConnections(
            key -> {
                connectedFor.add(key);
                return connectionsAreMade.thenApply(made -> connection());
            },
            key -> new ServerId("server"),
            new TimeSource() {
                @Override
                public long nanoTime() {
                    return 0;
                }

                @Override
                public long wallMillis() {
                    return 0;
                }

                @Override
                public Timer schedule(long delayNanos, Runnable task) {
                    if (delayNanos == 0) {
                        soon.add(task);
                        return () -> {};
                    }
                    assertThat(delayNanos).isEqualTo(TIMEOUT.toNanos());
                    timers.add(task);
                    return () -> timers.remove(task);
                }
            },
            new RedisErrors("test", TIMEOUT));

    /** The slot of the key that was used before may be at another node by now. */
    @Test
    void whoWaitedConnectsToWhereTheOwnKeyIs() {
        for (int i = 0; i < 9; i++) {
            var unused = use("key" + i);
        }
        assertThat(connectedFor).hasSize(8).doesNotContain("key8");
        uses.get(0).completeExceptionally(new IllegalStateException("broken"));
        runWhatIsDue();
        assertThat(connectedFor).hasSize(9).endsWith("key8");
        assertThat(uses).hasSize(9);
        assertThat(dedicated.size()).isEqualTo(8);
    }

    @Test
    void whoWaitsGivesUpAfterTheTimeoutAndLeavesNothingBehind() {
        List<CompletableFuture<String>> all = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            all.add(use("key" + i));
        }
        assertThat(timers).hasSize(2);
        timers.remove(0).run();
        assertThat(TestClient.failure(all.get(8)).outcome()).isEqualTo(NOT_EXECUTED);
        // The one after it is the next, and needs no timer then.
        uses.get(0).complete("done");
        assertThat(uses).hasSize(9);
        assertThat(timers).isEmpty();
        uses.get(8).complete("done");
        assertThat(all.get(9)).isCompletedWithValue("done");
        // It is idle now, so this one need not wait.
        var unused = use("key10");
        assertThat(uses).hasSize(10);
        assertThat(connectedFor).hasSize(8);
        assertThat(dedicated.size()).isEqualTo(8);
    }

    /** Who waits longest, and gives up while the connection is being made; others want it. */
    @Test
    void aConnectionThatComesTooLateIsTheNextOnes() {
        List<CompletableFuture<String>> all = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            all.add(use("key" + i));
        }
        connectionsAreMade = new CompletableFuture<>();
        uses.get(0).completeExceptionally(new IllegalStateException("broken"));
        runWhatIsDue();
        timers.remove(0).run();
        assertThat(TestClient.failure(all.get(8)).outcome()).isEqualTo(NOT_EXECUTED);
        assertThat(uses).hasSize(8);
        connectionsAreMade.complete(true);
        assertThat(uses).hasSize(9);
        uses.get(8).complete("done");
        assertThat(all.get(9)).isCompletedWithValue("done");
        assertThat(dedicated.size()).isEqualTo(8);
    }

    /** All waiters of a slot that no node serves are refused, one after the other and not one inside the other. */
    @Test
    void howeverManyWaitAllAreToldThatThereIsNoConnection() {
        List<CompletableFuture<String>> all = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            all.add(use("key" + i));
        }
        connectionsAreMade = CompletableFuture.failedFuture(new IllegalStateException("nobody serves the slot"));
        for (int i = 0; i < 8; i++) {
            uses.get(i).completeExceptionally(new IllegalStateException("broken"));
        }
        runWhatIsDue();
        assertThat(all).allSatisfy(one -> assertThat(one).isCompletedExceptionally());
        assertThat(dedicated.size()).isZero();
    }

    private void runWhatIsDue() {
        for (Runnable task = soon.poll(); task != null; task = soon.poll()) {
            task.run();
        }
    }

    /** Else the last of them would wait for the timeouts of all the others, eight at a time. */
    @Test
    void atAServerThatHangsEveryReleaseEndsSoon() {
        try (RedisServer server = RedisServer.start();
                TestClient a = new TestClient(server.uri() + "?mode=commands&timeout=2s")) {
            assertThat(((CommandsLockStore) a.below()).choice().delete()).isEqualTo(Ability.WATCH);
            Map<String, String> held = new HashMap<>();
            for (int i = 0; i < 64; i++) {
                held.put("n" + i, a.hold("n" + i));
            }
            server.pause();
            try {
                long began = System.nanoTime();
                List<CompletionStage<ReleaseReply>> releases = new ArrayList<>();
                held.forEach((name, holder) -> releases.add(a.store.release(ReleaseRequest.of(name, holder))));
                releases.forEach(TestClient::failure);
                // Eight at a time, it would be sixteen seconds.
                assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(10));
            } finally {
                server.resume();
            }
        }
    }

    private CompletableFuture<String> use(String key) {
        return dedicated
                .with(key, connection -> {
                    CompletableFuture<String> use = new CompletableFuture<>();
                    uses.add(use);
                    return use;
                })
                .toCompletableFuture();
    }

    @SuppressWarnings("unchecked")
    private static StatefulRedisConnection<String, String> connection() {
        return (StatefulRedisConnection<String, String>) Proxy.newProxyInstance(
                DedicatedConnectionsTest.class.getClassLoader(),
                new Class<?>[] {StatefulRedisConnection.class},
                (proxy, method, args) -> switch (method.getName()) {
                    case "isOpen" -> true;
                    case "closeAsync" -> CompletableFuture.completedFuture(null);
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }
}
