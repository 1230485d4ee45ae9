package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.commands.Ability;
import io.holdfast.redis.commands.CompareProbe;
import io.holdfast.redis.commands.ConditionalDelete;
import io.holdfast.redis.commands.NativeWays;
import io.holdfast.redis.commands.WatchWay;
import io.holdfast.redis.connect.DedicatedConnections;
import io.holdfast.redis.connect.ServerConnections;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisUris;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import io.lettuce.core.SetArgs;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two clients, and leases that run out while the first client's release is on its way through a proxy that holds it
 * back: the second takes the lock at that moment, and must keep it. A release by GET and then DEL takes it away now and
 * then, which shows that the moment is met. {@code -Dholdfast.race.rounds=10000} for more rounds.
 */
class ReleaseRaceTest {

    private static final int ROUNDS = Integer.getInteger("holdfast.race.rounds", 400);
    private static final int LANES = 8;

    /** What a release found, of so many rounds. */
    private record Result(long rounds, long tooLate, long foreignDeletes) {}

    @ParameterizedTest
    @MethodSource("io.holdfast.testkit.servers.RedisServer#available")
    void aReleaseNeverDeletesTheNextHold(Installation installation) throws Exception {
        try (RedisServer server =
                        RedisServer.builder().installation(installation).start();
                FaultProxy proxy = FaultProxy.to(server.host(), server.port())) {
            ServerConnections direct = connections(server.uri());
            ServerConnections delayed = connections(proxy.uri());
            try {
                Map<String, ConditionalDelete> ways = ways(delayed);
                proxy.delay(Duration.ofMillis(1));
                Map<String, Result> results = new LinkedHashMap<>();
                for (Map.Entry<String, ConditionalDelete> way : ways.entrySet()) {
                    Result result = race(direct, way.getValue(), 4);
                    // On a machine so slow that each came too late, the moment to be met is later.
                    for (int longest = 16; longest <= 64 && result.tooLate() == result.rounds(); longest *= 2) {
                        result = race(direct, way.getValue(), longest);
                    }
                    results.put(way.getKey(), result);
                }
                ConditionalDelete naively = (key, expected) -> naive(delayed, key, expected);
                Result naive = race(direct, naively, 4);
                for (int longest = 8; longest <= 128 && naive.foreignDeletes() == 0; longest *= 2) {
                    naive = race(direct, naively, longest);
                }
                System.out.println("Foreign deletes at " + installation + ": " + results + ", GET then DEL: " + naive);

                assertThat(naive.foreignDeletes()).isPositive();
                assertThat(results).containsKey("WATCH").allSatisfy((name, result) -> {
                    assertThat(result.foreignDeletes()).as(name).isZero();
                    // Both sides of the moment were met.
                    assertThat(result.tooLate()).as(name).isPositive().isLessThan(result.rounds());
                });
            } finally {
                direct.close();
                delayed.close();
            }
        }
    }

    private static Map<String, ConditionalDelete> ways(ServerConnections connections) throws Exception {
        Duration timeout = Duration.ofSeconds(5);
        RedisErrors errors = new RedisErrors("test", timeout);
        DedicatedConnections dedicated =
                new DedicatedConnections(connections::dedicated, connections::server, TimeSource.system(), errors);
        CompareProbe.Finding found = await(new CompareProbe(
                        connections,
                        dedicated,
                        errors,
                        RedisKeys.ofServer("race").probe("probe"))
                .run());
        Map<String, ConditionalDelete> ways = new LinkedHashMap<>();
        if (found.choice().has(Ability.DELIFEQ)) {
            ways.put("DELIFEQ", new NativeWays(connections).delifeq());
        }
        if (found.choice().has(Ability.DELEX)) {
            ways.put("DELEX", new NativeWays(connections).delex());
        }
        ways.put("WATCH", new WatchWay(dedicated, true));
        return ways;
    }

    /** What the posts do. */
    private static CompletionStage<ConditionalDelete.Deletion> naive(
            ServerConnections connections, String key, String expected) {
        return connections
                .commands()
                .get(key)
                .thenCompose(value -> expected.equals(value)
                        ? connections
                                .commands()
                                .del(key)
                                .thenApply(deleted -> new ConditionalDelete.Deletion(deleted == 1, 0))
                        : CompletableFuture.completedFuture(ConditionalDelete.Deletion.NONE));
    }

    private static Result race(ServerConnections other, ConditionalDelete way, int longestMillis) throws Exception {
        AtomicLong left = new AtomicLong(ROUNDS);
        AtomicLong tooLate = new AtomicLong();
        AtomicLong foreign = new AtomicLong();
        ExecutorService lanes = Executors.newFixedThreadPool(LANES);
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int lane = 0; lane < LANES; lane++) {
                String key = "race:" + lane;
                Random random = new Random(lane);
                running.add(lanes.submit(() -> {
                    while (left.getAndDecrement() > 0) {
                        round(other, way, key, 1 + random.nextInt(longestMillis), tooLate, foreign);
                    }
                    return null;
                }));
            }
            for (Future<?> lane : running) {
                lane.get(120, TimeUnit.SECONDS);
            }
        } finally {
            lanes.shutdownNow();
        }
        return new Result(ROUNDS, tooLate.get(), foreign.get());
    }

    /** The first client's lease runs out about when its release arrives. */
    private static void round(
            ServerConnections other,
            ConditionalDelete way,
            String key,
            long leaseMillis,
            AtomicLong tooLate,
            AtomicLong foreign)
            throws Exception {
        var commands = other.commands();
        assertThat(await(commands.set(key, "first", SetArgs.Builder.nx().px(leaseMillis))))
                .isEqualTo("OK");
        CompletionStage<ConditionalDelete.Deletion> release = way.delete(key, "first");
        while (await(commands.set(key, "second", SetArgs.Builder.nx().px(60_000))) == null) {
            Thread.onSpinWait();
        }
        // Done now: the second client holds, for long.
        if (!await(release).done()) {
            tooLate.incrementAndGet();
        }
        if (!"second".equals(await(commands.get(key)))) {
            foreign.incrementAndGet();
        }
        await(commands.del(key));
    }

    /** With a long timeout: these connections have no heartbeat, and would be taken for dead when idle. */
    private static ServerConnections connections(String uri) throws Exception {
        ServerConnections connections = new ServerConnections(
                RedisUris.parse(URI.create(uri + "?timeout=60s")),
                new StoreContext("race", TimeSource.system()).time());
        await(connections.connect(() -> {}));
        return connections;
    }

    private static <T> T await(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }
}
