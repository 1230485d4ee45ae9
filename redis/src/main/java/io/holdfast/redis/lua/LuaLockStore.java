package io.holdfast.redis.lua;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.connect.RedisMessages;
import io.holdfast.redis.connect.RedissonReleases;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The store by scripts: each command is one script. The scripts' heads say what the arguments and replies mean.
 *
 * <p>Keeps no state of a lock but what it listens for at Redisson ({@link RedissonReleases}), and which acquires are under
 * way. Stages complete on the driver's I/O thread.
 */
public final class LuaLockStore implements LockStore {

    /** Those behind the first few of the queue are not woken by Redisson's releases: they would ask in vain. */
    private static final int LISTENERS_AHEAD_MAX = 2;

    private static final int LATE = -1;
    private static final int UNUSABLE_KEY = -2;
    private static final int NO_LOCK = -3;
    private static final int OURS = 0;
    private static final int HELD_BY_REDISSON = 1;

    private final RedisSettings settings;
    private final RedisKeys keys;
    private final Scripts scripts;
    private final RedisErrors errors;
    private final RedisConnections connections;
    private final RedisMessages messages;
    private final Hints hints;
    private final BatchRenewals renewals;
    private final AcquireAllScript together;
    private final Runnable closing;

    /** Null if replicas are not waited for. */
    private final @Nullable ReplicatedScripts replicated;

    private final AcquiresUnderWay underWay = new AcquiresUnderWay();
    private final AtomicBoolean closed = new AtomicBoolean();

    /** @param closing closes the connections */
    public LuaLockStore(
            RedisSettings settings,
            RedisKeys keys,
            Scripts scripts,
            RedisErrors errors,
            RedisConnections connections,
            RedisMessages messages,
            Runnable closing) {
        this.settings = settings;
        this.keys = keys;
        this.scripts = scripts;
        this.errors = errors;
        this.connections = connections;
        this.messages = messages;
        this.hints = new Hints(connections, keys, scripts.publishing(), errors, settings.describe());
        this.renewals = new BatchRenewals(keys, scripts, errors, connections, messages.redisson());
        this.together = new AcquireAllScript(keys, scripts, errors, connections, settings.timeout());
        this.closing = closing;
        this.replicated =
                settings.minReplicas() == 0 ? null : new ReplicatedScripts(settings, connections, scripts, errors);
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return request.queue()
                ? underWay.during(request.holderId(), () -> acquireInSteps(request))
                : acquireInSteps(request);
    }

    private CompletionStage<AcquireReply> acquireInSteps(AcquireRequest request) {
        if (!connections.clock(request.name()).isKnown()) {
            return meet(request.name()).thenCompose(met -> acquireKnowing(request));
        }
        return acquireKnowing(request);
    }

    /** Has seen a time of the server. */
    private CompletionStage<AcquireReply> acquireKnowing(AcquireRequest request) {
        CompletableFuture<AcquireReply> outcome = new CompletableFuture<>();
        if (!request.queue() || messages.subscriptions().ready(request.name())) {
            acquire(request, outcome, true);
            return outcome;
        }
        // Who waits must hear the grant; who gets the lock at once need not listen at all.
        acquire(request.unqueued(), outcome, true);
        return outcome.thenCompose(reply -> {
            if (reply instanceof AcquireReply.Granted) {
                return CompletableFuture.completedFuture(reply);
            }
            return messages.subscriptions()
                    .prepare(request.name())
                    .handle((ok, error) -> error)
                    .thenCompose(error -> {
                        CompletableFuture<AcquireReply> queued = new CompletableFuture<>();
                        acquire(request, queued, true);
                        return queued;
                    });
        });
    }

    /** Not where replicas are waited for, which is done for one lock at a time. */
    @Override
    public boolean canAcquireAll(List<String> names) {
        return replicated == null && together.takes(names);
    }

    @Override
    public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
        String first = requests.get(0).name();
        return connections.clock(first).isKnown()
                ? together.acquire(requests)
                : meet(first).thenCompose(met -> together.acquire(requests));
    }

    /** Learns the time of a server that may be another one than before. What fails here was not executed. */
    private CompletionStage<StoreState> meet(String name) {
        CompletableFuture<StoreState> met = new CompletableFuture<>();
        inspect(name).whenComplete((state, error) -> {
            if (error == null) {
                met.complete(state);
            } else {
                met.completeExceptionally(errors.notExecuted(errors.of(error)));
            }
        });
        return met;
    }

    private void acquire(AcquireRequest request, CompletableFuture<AcquireReply> outcome, boolean again) {
        String name = request.name();
        String[] args = {
            messages.subscriptions().grantChannels(name),
            RedisKeys.redissonChannel(name),
            request.holderId(),
            Long.toString(request.leaseMillis()),
            Long.toString(request.pollMillis()),
            request.queue() ? "1" : "0",
            notAfter(name),
            Long.toString(request.repetition()),
            replicated == null ? "0" : "1"
        };
        Scripts.Decoder<AcquireReply> decoder = (reply, unused) -> {
            observe(name, reply, 1);
            int code = integer(reply, 0);
            if (code == LATE && again) {
                // Held up, or the server's clock was set: that is known now.
                acquire(request, outcome, false);
            } else if (code == LATE) {
                outcome.completeExceptionally(errors.late());
            } else if (code == UNUSABLE_KEY) {
                outcome.completeExceptionally(errors.unusableKey(name, (String) reply.get(2)));
            } else {
                outcome.complete(acquired(request, code, reply, 2));
            }
        };
        if (replicated == null) {
            scripts.run(LuaScript.ACQUIRE, keys.of(name), args, decoder, outcome);
        } else {
            Predicate<List<Object>> granted = reply -> integer(reply, 0) == 1;
            replicated.run(LuaScript.ACQUIRE, keys.of(name), args, granted, decoder, outcome);
        }
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return RenewAnswers.single(answers -> renewAll(List.of(request), answers));
    }

    @Override
    public void renewAll(List<RenewRequest> requests, RenewAnswers answers) {
        renewals.renew(requests, answers);
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        AcquireRequest requeue = request.requeue();
        return requeue == null
                ? release(request, null)
                : underWay.during(requeue.holderId(), () -> release(request, requeue));
    }

    private CompletionStage<ReleaseReply> release(ReleaseRequest request, @Nullable AcquireRequest requeue) {
        String name = request.name();
        if (requeue != null
                && (replicated != null
                        || !messages.subscriptions().ready(name)
                        || !connections.clock(name).isKnown())) {
            return releaseThenAcquire(request, requeue);
        }
        String[] args = {
            messages.subscriptions().grantChannels(name),
            RedisKeys.redissonChannel(name),
            request.holderId(),
            requeue == null ? "" : requeue.holderId(),
            requeue == null ? "0" : Long.toString(requeue.leaseMillis()),
            requeue == null ? "0" : Long.toString(requeue.pollMillis()),
            requeue == null ? "0" : notAfter(name)
        };
        return scripts.run(LuaScript.RELEASE, keys.of(name), args, (reply, outcome) -> {
            observe(name, reply, 1);
            messages.redisson().unwatch(name, request.holderId());
            boolean wasHeld = integer(reply, 0) == 1;
            if (wasHeld && (requeue == null || integer(reply, 2) == LATE)) {
                leftFree(name, reply, requeue == null ? 2 : 3);
            }
            if (!wasHeld || requeue == null) {
                outcome.complete(new ReleaseReply(wasHeld, null));
            } else if (integer(reply, 2) == LATE) {
                // Released, but too late to queue; whoever still waits for this answer wants that, too.
                thenAcquire(requeue, outcome);
            } else {
                AcquireReply acquired = acquired(requeue, integer(reply, 2), reply, 3);
                if (acquired instanceof AcquireReply.Busy busy) {
                    tell(name, busy.holder());
                }
                outcome.complete(new ReleaseReply(true, acquired));
            }
        });
    }

    /**
     * Two commands instead of one: where a hold must be with replicas before its lease is handed out, or where the grant
     * would not be heard.
     */
    private CompletionStage<ReleaseReply> releaseThenAcquire(ReleaseRequest request, AcquireRequest requeue) {
        return release(new ReleaseRequest(request.name(), request.holderId(), null))
                .thenCompose(reply -> {
                    if (!reply.wasHeld()) {
                        return CompletableFuture.completedFuture(reply);
                    }
                    CompletableFuture<ReleaseReply> outcome = new CompletableFuture<>();
                    thenAcquire(requeue, outcome);
                    return outcome;
                });
    }

    private void thenAcquire(AcquireRequest requeue, CompletableFuture<ReleaseReply> outcome) {
        acquire(requeue).whenComplete((acquired, error) -> {
            if (error != null) {
                outcome.completeExceptionally(error);
            } else {
                outcome.complete(new ReleaseReply(true, acquired));
            }
        });
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        CompletionStage<?> acquiring = underWay.of(holderId);
        CompletionStage<Boolean> withdrawn = withdraw(name, holderId);
        if (acquiring == null) {
            return withdrawn;
        }
        // It may have a step to go, or be on another connection: then it was overtaken, and queues after all.
        return withdrawn.thenCompose(held -> acquiring
                .handle((reply, error) -> true)
                .thenCompose(over -> withdraw(name, holderId))
                .thenApply(heldLater -> held || heldLater));
    }

    private CompletionStage<Boolean> withdraw(String name, String holderId) {
        String[] args = {messages.subscriptions().grantChannels(name), RedisKeys.redissonChannel(name), holderId};
        CompletableFuture<Boolean> abandoned = scripts.run(LuaScript.ABANDON, keys.of(name), args, (reply, outcome) -> {
            observe(name, reply, 1);
            leftFree(name, reply, 2);
            outcome.complete(integer(reply, 0) == 1);
        });
        // Not before: an acquire of this id may be under way, whose answer would begin to listen.
        return abandoned.whenComplete((held, error) -> messages.redisson().unwatch(name, holderId));
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return scripts.run(LuaScript.INSPECT, keys.of(name), new String[0], (reply, outcome) -> {
            observe(name, reply, 0);
            String holder = (String) reply.get(4);
            int waiting = integer(reply, 3);
            outcome.complete(
                    holder.isEmpty()
                            ? StoreState.free(waiting)
                            : new StoreState(holder, (Long) reply.get(1), (Long) reply.get(2), waiting));
        });
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        String[] args = {messages.subscriptions().grantChannels(name), RedisKeys.redissonChannel(name), ""};
        return scripts.run(LuaScript.FORCE, keys.of(name), args, (reply, outcome) -> {
            observe(name, reply, 1);
            if (integer(reply, 0) == NO_LOCK) {
                outcome.completeExceptionally(errors.notDeleted(name, (String) reply.get(2)));
            } else {
                leftFree(name, reply, 2);
                outcome.complete(integer(reply, 0) == 1);
            }
        });
    }

    /** A command is refused by its "not after" when it comes later than the timeout, and fails no sooner than it was sent. */
    @Override
    public Duration lateness() {
        // The script refuses what is executed later than that by the server's clock; that runs at its own rate, and in
        // whole ms.
        return settings.timeout().plus(settings.timeout().dividedBy(100)).plusMillis(100);
    }

    @Override
    public void listen(StoreListener listener) {
        messages.listen(listener);
    }

    @Override
    public String describe() {
        return settings.describe();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            messages.stop();
            scripts.close();
            if (replicated != null) {
                replicated.close();
            }
            closing.run();
        }
    }

    @Override
    public String toString() {
        return describe();
    }

    /** For tests: how many of Redisson's channels are listened to. */
    public RedisMessages messages() {
        return messages;
    }

    /** For tests: what this server allows, and to act as if it allowed less. */
    public Scripts scripts() {
        return scripts;
    }

    private AcquireReply acquired(AcquireRequest request, int code, List<Object> reply, int at) {
        if (code == 1) {
            messages.redisson().unwatch(request.name(), request.holderId());
            return new AcquireReply.Granted((Long) reply.get(at), integer(reply, at + 1));
        }
        if (request.queue()) {
            messages.subscriptions().waiting(request.name());
        }
        AcquireReply.Busy busy =
                new AcquireReply.Busy((Long) reply.get(at), integer(reply, at + 1), (String) reply.get(at + 3));
        if (!scripts.allowed().pushes() && request.queue() && busy.ahead() == 0 && integer(reply, at + 2) == OURS) {
            hints.contended(request.name(), busy.holder());
        }
        if (request.queue() && integer(reply, at + 2) == HELD_BY_REDISSON && busy.ahead() <= LISTENERS_AHEAD_MAX) {
            messages.redisson().watch(request.name(), request.holderId());
        } else {
            messages.redisson().unwatch(request.name(), request.holderId());
        }
        return busy;
    }

    /** The script ended a hold, if it says whom to tell of that. */
    private void leftFree(String name, List<Object> reply, int at) {
        if (reply.size() > at) {
            tell(name, (String) reply.get(at));
        }
    }

    private void tell(String name, String firstWaiting) {
        if (!scripts.allowed().pushes()) {
            hints.released(name, firstWaiting);
        }
    }

    /** When a command that is sent now is too late: nobody waits for its answer then. */
    private String notAfter(String name) {
        return Long.toString(connections.clock(name).notAfterMillis(settings.timeout()));
    }

    private void observe(String name, List<Object> reply, int index) {
        connections.clock(name).observe((Long) reply.get(index));
    }

    private static int integer(List<Object> reply, int index) {
        return ((Long) reply.get(index)).intValue();
    }
}
