package io.holdfast.redis.lua;

import io.holdfast.redis.messages.RedisMessages;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends acquires and reads their replies. Thread-safe; keeps no state. */
final class LuaAcquires {

    /**
     * Redisson's releases wake only the first few clients of the queue: the clients behind them would not get the lock.
     */
    private static final int LISTENERS_AHEAD_MAX = 2;

    private static final int OURS = 0;
    private static final int HELD_BY_REDISSON = 1;

    /** The argument of an acquire that counts the clients that wait at Redisson. */
    private static final String COUNT = "c";

    /** The argument of an acquire that writes in any case, so that replicas can be waited for. */
    private static final String WRITE = "w";

    private final LuaParts parts;
    private final Hints hints;
    private final RedissonSeen redissonSeen;

    /** Null if the store does not wait for replicas. */
    private final @Nullable ReplicatedAcquires replicated;

    LuaAcquires(LuaParts parts, Hints hints, RedissonSeen redissonSeen, @Nullable ReplicatedAcquires replicated) {
        this.parts = parts;
        this.hints = hints;
        this.redissonSeen = redissonSeen;
        this.replicated = replicated;
    }

    /** Acquires, in as many commands as that takes. */
    CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return afterServerTime(request.name(), () -> acquireInSteps(request));
    }

    /** Begins a command that needs the server's time. Asks for the time first if it is not known yet. */
    <T> CompletionStage<T> afterServerTime(String name, Supplier<CompletionStage<T>> command) {
        if (parts.connections().clock(name).isKnown()) {
            return command.get();
        }
        // If the question fails, the command was not executed.
        return parts.scripts()
                .run(parts.kind().inspect, parts.keys(name), new String[0], reply -> {
                    parts.observe(name, reply);
                    return true;
                })
                .exceptionallyCompose(error -> CompletableFuture.failedFuture(
                        parts.errors().notExecuted(parts.errors().of(error))))
                .thenCompose(known -> command.get());
    }

    private CompletionStage<AcquireReply> acquireInSteps(AcquireRequest request) {
        String name = request.name();
        if (!request.queue() || parts.messages().subscriptions().ready(name)) {
            return acquireNow(request);
        }
        // A client that waits must receive the grant; a client that gets the lock at once need not listen at all.
        return acquireNow(request.unqueued())
                .thenCompose(reply -> reply instanceof AcquireReply.Granted
                        ? CompletableFuture.completedFuture(reply)
                        : parts.messages()
                                .subscriptions()
                                .prepare(name)
                                .handle((ok, error) -> error)
                                .thenCompose(ignored -> acquireNow(request)));
    }

    private CompletionStage<AcquireReply> acquireNow(AcquireRequest request) {
        CompletableFuture<AcquireReply> outcome = new CompletableFuture<>();
        acquire(request, outcome, true);
        return outcome;
    }

    /** @param again whether to send the command again if the server refuses it as late */
    private void acquire(AcquireRequest request, CompletableFuture<AcquireReply> outcome, boolean again) {
        String name = request.name();
        List<String> args = new ArrayList<>(7);
        args.add(request.holderId());
        args.add(Long.toString(request.leaseMillis()));
        args.add(parts.notAfter(name));
        args.add(request.queue() ? place(request) : "");
        addWeight(request, args);
        if (replicated != null) {
            args.add(WRITE);
        } else if (!parts.areOfPools() && redissonSeen.isRecent()) {
            args.add(COUNT);
        }
        String[] all = args.toArray(String[]::new);
        Scripts.Decoder<AcquireReply> decoder = (reply, unused) -> {
            int code = reply.integer();
            parts.observe(name, reply);
            if (again && AcquireRefusals.isLate(code)) {
                acquire(request, outcome, false);
                return;
            }
            AcquireRefusals.check(code, reply, parts.errors(), parts.allKeys().counter(name));
            outcome.complete(acquired(request, code == 1, reply));
        };
        if (replicated == null) {
            parts.scripts().run(parts.kind().acquire, parts.keys(name), all, decoder, outcome);
        } else {
            replicated.run(parts, parts.keys(name), all, decoder, outcome);
        }
    }

    /** Reads the rest of a reply that grants or says who holds. */
    AcquireReply acquired(AcquireRequest request, boolean granted, ScriptReply reply) {
        String name = request.name();
        RedisMessages messages = parts.messages();
        if (granted) {
            messages.redisson().unwatch(name, request.holderId());
            return new AcquireReply.Granted(reply.number(), reply.integer());
        }
        long remaining = reply.number();
        int ahead = reply.integer();
        int heldBy = reply.integer();
        String holder = reply.text();
        if (heldBy == HELD_BY_REDISSON) {
            redissonSeen.now();
        }
        if (request.queue()) {
            messages.subscriptions().waiting(name);
            if (!parts.pushes() && ahead == 0 && heldBy == OURS) {
                hints.contended(name, holder);
            }
        }
        if (request.queue() && heldBy == HELD_BY_REDISSON && ahead <= LISTENERS_AHEAD_MAX) {
            messages.redisson().watch(name, request.holderId(), request.nonce());
        } else {
            messages.redisson().unwatch(name, request.holderId());
        }
        return new AcquireReply.Busy(remaining, ahead, holder);
    }

    /** Adds what only a script of pools gets. */
    void addWeight(AcquireRequest request, List<String> args) {
        if (parts.areOfPools()) {
            args.add(Integer.toString(request.weight()));
            args.add(Integer.toString(request.capacity()));
        }
    }

    /** Returns the argument that asks for a place in the queue. */
    static String place(AcquireRequest request) {
        return request.pollMillis() + ":" + Long.toString(request.nonce(), RedisMessages.NONCE_RADIX);
    }
}
