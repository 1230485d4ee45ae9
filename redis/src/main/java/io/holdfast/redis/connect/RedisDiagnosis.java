package io.holdfast.redis.connect;

import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.ServerClock;
import io.holdfast.redis.server.ServerFindings;
import io.holdfast.redis.server.ServerInfo;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.Finding;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Examines a store's servers for a person. It asks each question by itself, and a refused question is a finding. */
public final class RedisDiagnosis {

    /** How long the rate of a clock is measured: answers that take 5 ms leave an error of half a percent. */
    private static final String RENAMED = "see rename-command in the server's configuration";

    private static final long RATE_NANOS = 2_000_000_000;

    private final RedisConnections connections;
    private final RedisKeys keys;
    private final String clientId;
    private final TimeSource time;
    private final boolean cluster;

    /** What the opening of the store found out. */
    private final List<Finding> opening;

    public RedisDiagnosis(
            RedisConnections connections,
            RedisKeys keys,
            String clientId,
            TimeSource time,
            boolean cluster,
            List<Finding> opening) {
        this.connections = connections;
        this.keys = keys;
        this.clientId = clientId;
        this.time = time;
        this.cluster = cluster;
        this.opening = opening;
    }

    /** Returns all findings, with the keys of this lock. */
    public CompletionStage<List<Finding>> of(String lockKey) {
        List<RedisClusterAsyncCommands<String, String>> servers = connections.servers();
        List<CompletableFuture<List<Finding>>> asked = new ArrayList<>();
        for (RedisClusterAsyncCommands<String, String> server : servers) {
            boolean several = servers.size() > 1;
            asked.add(server(server, info -> new ServerFindings(info, several)));
        }
        asked.add(CompletableFuture.completedFuture(opening));
        asked.add(publishing());
        if (!cluster) {
            asked.add(subscribed());
        }
        asked.add(key("lock", lockKey));
        asked.add(key("counter", keys.counter(lockKey)));
        asked.add(key("queue", keys.queue(lockKey)));
        return all(asked);
    }

    /**
     * Returns all findings on a member of a quorum, for some seconds after the call.
     *
     * @param member describes the member
     * @param clockDrift the largest difference between the rates of two clocks that the quorum allows for
     */
    public CompletionStage<List<Finding>> ofMember(String member, double clockDrift) {
        Function<ServerInfo, ServerFindings> judge = info -> ServerFindings.ofMember(info, member);
        return all(List.of(
                server(connections.commands(), judge),
                rate(member, judge.apply(new ServerInfo("")), clockDrift),
                answered(
                        connections
                                .commands()
                                .pubsubNumsub(channel())
                                .thenApply(listeners -> memberSubscription(member, listeners)),
                        said -> Finding.warning(
                                "rights",
                                "the server refuses to count subscribers (PUBSUB NUMSUB) at " + member + ": " + said,
                                "allow +pubsub"))));
    }

    private static CompletableFuture<List<Finding>> all(List<CompletableFuture<List<Finding>>> asked) {
        return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
                .thenApply(done ->
                        asked.stream().flatMap(one -> one.join().stream()).toList());
    }

    /** A time of the server, and when it was read: between {@code ownNanos} minus and plus {@code errorNanos}. */
    private record Reading(long serverMicros, long ownNanos, long errorNanos) {}

    private CompletableFuture<List<Finding>> rate(String member, ServerFindings judge, double clockDrift) {
        CompletableFuture<@Nullable Void> later = new CompletableFuture<>();
        time.schedule(RATE_NANOS, () -> later.complete(null));
        return answered(
                reading()
                        .thenCombine(later, (first, none) -> first)
                        .thenCompose(first -> reading().thenApply(second -> {
                            double own = second.ownNanos() - first.ownNanos();
                            double server = (second.serverMicros() - first.serverMicros()) * 1_000.0;
                            double error = (first.errorNanos() + second.errorNanos()) / own;
                            return List.of(judge.rate(server / own - 1, error, clockDrift));
                        })),
                said -> Finding.warning(
                        "clock", "the rate of the clock of " + member + " is unknown: " + said, "allow +time"));
    }

    private CompletionStage<Reading> reading() {
        long sent = time.nanoTime();
        return connections.commands().time().thenApply(at -> {
            long half = (time.nanoTime() - sent) / 2;
            return new Reading(Long.parseLong(at.get(0)) * 1_000_000 + Long.parseLong(at.get(1)), sent + half, half);
        });
    }

    private CompletableFuture<List<Finding>> server(
            RedisClusterAsyncCommands<String, String> server, Function<ServerInfo, ServerFindings> judge) {
        CompletableFuture<ServerFindings> findings = server.info()
                .thenApply(answer -> judge.apply(new ServerInfo(answer)))
                .toCompletableFuture();
        CompletableFuture<List<Finding>> info = answered(
                findings.thenApply(ServerFindings::all),
                said -> Finding.warning(
                        "version",
                        "the server does not say its version, eviction policy, persistence and role: " + said,
                        "allow +info, or look at its configuration"));
        long sent = time.wallMillis();
        CompletableFuture<List<Finding>> clock = answered(
                server.time()
                        .thenCombine(findings.exceptionally(error -> judge.apply(new ServerInfo(""))), (at, of) -> {
                            long own = sent + (time.wallMillis() - sent) / 2;
                            return List.of(of.clock(ServerClock.millis(at), own));
                        }),
                said -> Finding.error("clock", "the server does not tell its time: " + said, "allow +time"));
        return info.thenCombine(clock, (one, other) -> {
            List<Finding> both = new ArrayList<>(one);
            both.addAll(other);
            return both;
        });
    }

    private CompletableFuture<List<Finding>> publishing() {
        return answered(
                connections.commands().publish(channel(), "").thenApply(receivers -> List.of()),
                said -> Finding.warning(
                        "rights",
                        "the server refuses PUBLISH, so a hand-off takes up to a second: " + said,
                        "allow +publish and the channels " + keys.clientChannels() + "*"));
    }

    private CompletableFuture<List<Finding>> subscribed() {
        return answered(
                connections.commands().pubsubNumsub(channel()).thenApply(this::subscription),
                said -> Finding.warning(
                        "rights", "the server refuses to count subscribers (PUBSUB NUMSUB): " + said, "allow +pubsub"));
    }

    private List<Finding> memberSubscription(String member, Map<String, Long> listeners) {
        return listeners.getOrDefault(channel(), 0L) > 0
                ? List.of()
                : List.of(Finding.warning(
                        "messages",
                        "this client receives no messages of " + member + ", so it notices releases late",
                        "allow +subscribe and the channels " + keys.clientChannels() + "*"));
    }

    private List<Finding> subscription(Map<String, Long> listeners) {
        if (listeners.getOrDefault(channel(), 0L) > 0) {
            return List.of(Finding.ok("messages", "this client receives the server's messages"));
        }
        return List.of(Finding.warning(
                "messages",
                "this client receives no messages, so it polls each second, and other clients are served before it",
                "allow +subscribe and the channels " + keys.clientChannels() + "* and redisson_lock__channel:*"));
    }

    private String channel() {
        return keys.clientChannels() + clientId;
    }

    private CompletableFuture<List<Finding>> key(String kind, String key) {
        RedisClusterAsyncCommands<String, String> commands = connections.commands();
        return answered(
                commands.type(key)
                        .thenCombine(
                                commands.pttl(key),
                                (type, left) -> List.of(Finding.ok(
                                        "keys",
                                        kind + ": " + key + ", "
                                                + (type.equals("none") ? "not there now" : type + expiry(left))))),
                said -> Finding.warning("keys", kind + ": " + key + ": " + said, "allow +type, +pttl and this key"));
    }

    private static String expiry(long leftMillis) {
        return leftMillis < 0
                ? " without expiry"
                : ", expires in " + DurationText.rounded(Duration.ofMillis(leftMillis));
    }

    /** Returns the findings of an answer, or the finding that there is none. */
    private static CompletableFuture<List<Finding>> answered(
            CompletionStage<List<Finding>> answer, Function<String, Finding> refused) {
        return answer.exceptionally(error -> {
                    Throwable said = RedisErrors.unwrap(error);
                    String text = said == null ? error.toString() : String.valueOf(said.getMessage());
                    Finding finding = refused.apply(text);
                    // No grant gives a command that the server does not have.
                    return List.of(
                            RedisErrors.isUnknownCommand(text)
                                    ? new Finding(finding.severity(), finding.subject(), finding.text(), RENAMED)
                                    : finding);
                })
                .toCompletableFuture();
    }
}
