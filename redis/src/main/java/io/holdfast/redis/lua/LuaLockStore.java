package io.holdfast.redis.lua;

import io.holdfast.redis.RedissonChannels;
import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.connect.StageGuard;
import io.holdfast.redis.messages.RedisMessages;
import io.holdfast.redis.messages.RedissonReleases;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The store of mode {@code lua}: each command is one script, whose head documents its arguments and results.
 *
 * <p>Keeps no state of locks except which of Redisson's releases it listens for ({@link RedissonReleases}). Stages
 * complete on the driver's I/O thread.
 */
public final class LuaLockStore implements LockStore {

    /**
     * Redisson's releases wake only the first few clients of the queue: the clients behind them would not get the lock.
     */
    private static final int LISTENERS_AHEAD_MAX = 2;

    private static final int NOT_A_LOCK = -3;
    private static final int RELEASED_AND_HELD = 2;
    private static final int RELEASED_TOO_LATE = 4;
    private static final int OURS = 0;
    private static final int HELD_BY_REDISSON = 1;

    /** The argument of an acquire that counts the clients that wait at Redisson. */
    private static final String COUNT = "c";

    /** The argument of an acquire that writes in any case, so that replicas can be waited for. */
    private static final String WRITE = "w";

    private final RedisSettings settings;
    private final RedisKeys keys;
    private final Scripts scripts;
    private final RedisErrors errors;
    private final RedisConnections connections;
    private final RedisMessages messages;
    private final Hints hints;
    private final BatchRenewals renewals;
    private final AcquireAllScript acquireAll;
    private final Runnable closing;

    /** Null if the store does not wait for replicas. */
    private final @Nullable ReplicatedAcquires replicated;

    private final RedissonSeen redissonSeen;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** @param closing closes the connections */
    public LuaLockStore(
            RedisSettings settings,
            RedisKeys keys,
            Scripts scripts,
            RedisErrors errors,
            RedisConnections connections,
            RedisMessages messages,
            TimeSource time,
            Runnable closing) {
        this.settings = settings;
        this.keys = keys;
        this.scripts = scripts;
        this.errors = errors;
        this.connections = connections;
        this.messages = messages;
        this.hints = new Hints(connections, keys, scripts.publishing(), errors, settings.describe());
        this.renewals = new BatchRenewals(keys, scripts, errors, connections, messages.redisson());
        this.redissonSeen = new RedissonSeen(time, settings.redissonChannels() != RedissonChannels.NONE);
        this.acquireAll = new AcquireAllScript(keys, scripts, errors, connections, redissonSeen);
        this.closing = closing;
        this.replicated =
                settings.minReplicas() == 0 ? null : new ReplicatedAcquires(settings, connections, scripts, errors);
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return afterServerTime(request.name(), () -> acquireInSteps(request));
    }

    /** Begins a command that needs the server's time. Asks for the time first if it is not known yet. */
    private <T> CompletionStage<T> afterServerTime(String name, Supplier<CompletionStage<T>> command) {
        if (connections.clock(name).isKnown()) {
            return command.get();
        }
        // If the question fails, the command was not executed.
        return inspect(name)
                .exceptionallyCompose(error -> CompletableFuture.failedFuture(errors.notExecuted(errors.of(error))))
                .thenCompose(state -> command.get());
    }

    private CompletionStage<AcquireReply> acquireInSteps(AcquireRequest request) {
        if (!request.queue() || messages.subscriptions().ready(request.name())) {
            return acquireNow(request);
        }
        // A client that waits must receive the grant; a client that gets the lock at once need not listen at all.
        return acquireNow(request.unqueued())
                .thenCompose(reply -> reply instanceof AcquireReply.Granted
                        ? CompletableFuture.completedFuture(reply)
                        : messages.subscriptions()
                                .prepare(request.name())
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
        List<String> args = new ArrayList<>(5);
        args.add(request.holderId());
        args.add(Long.toString(request.leaseMillis()));
        args.add(notAfter(name));
        args.add(request.queue() ? place(request) : "");
        if (replicated != null) {
            args.add(WRITE);
        } else if (redissonSeen.isRecent()) {
            args.add(COUNT);
        }
        String[] all = args.toArray(String[]::new);
        Scripts.Decoder<AcquireReply> decoder = (reply, unused) -> {
            int code = reply.integer();
            observe(name, reply);
            if (again && AcquireRefusals.isLate(code)) {
                acquire(request, outcome, false);
                return;
            }
            AcquireRefusals.check(code, reply, errors, keys.counter(name));
            outcome.complete(acquired(request, code == 1, reply));
        };
        if (replicated == null) {
            scripts.run(LuaScript.ACQUIRE, keys.of(name), all, decoder, outcome);
        } else {
            replicated.run(keys.of(name), all, decoder, outcome);
        }
    }

    /** Returns whether one command may take these locks. Not if replicas are waited for: that is done lock by lock. */
    @Override
    public boolean canAcquireAll(List<String> names) {
        return replicated == null && acquireAll.takes(names);
    }

    @Override
    public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
        return afterServerTime(requests.get(0).name(), () -> acquireAll.acquire(requests));
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
        if (requeue == null) {
            return releaseOnly(request.name(), request.holderId());
        }
        return releaseAndQueue(request, requeue);
    }

    private CompletionStage<ReleaseReply> releaseOnly(String name, String holderId) {
        return scripts.run(LuaScript.RELEASE, keys.of(name), new String[] {holderId}, reply -> {
            messages.redisson().unwatch(name, holderId);
            return ReleaseReply.of(ended(name, reply));
        });
    }

    private CompletionStage<ReleaseReply> releaseAndQueue(ReleaseRequest request, AcquireRequest requeue) {
        String name = request.name();
        if (replicated != null
                || !messages.subscriptions().ready(name)
                || !connections.clock(name).isKnown()) {
            // By two commands: replicas must have the hold before its lease is handed out, or nobody would receive the
            // grant.
            return releaseOnly(name, request.holderId())
                    .thenCompose(
                            reply -> reply.wasHeld() ? acquireNext(requeue) : CompletableFuture.completedFuture(reply));
        }
        String[] args = {
            request.holderId(), requeue.holderId(), Long.toString(requeue.leaseMillis()), place(requeue), notAfter(name)
        };
        return scripts.run(LuaScript.RELEASE, keys.of(name), args, (reply, outcome) -> {
            messages.redisson().unwatch(name, request.holderId());
            int code = reply.integer();
            if (code == 0) {
                outcome.complete(ReleaseReply.notHeld());
                return;
            }
            if (code == RELEASED_TOO_LATE) {
                // A caller that still waits for this answer wants to queue.
                leftFree(name, reply);
                acquireNext(requeue).whenComplete((acquired, error) -> StageGuard.complete(outcome, acquired, error));
                return;
            }
            observe(name, reply);
            AcquireReply acquired = acquired(requeue, code == RELEASED_AND_HELD, reply);
            if (acquired instanceof AcquireReply.Busy busy) {
                tell(name, busy.holder());
            }
            outcome.complete(ReleaseReply.requeued(acquired));
        });
    }

    private CompletionStage<ReleaseReply> acquireNext(AcquireRequest requeue) {
        return acquire(requeue).thenApply(acquired -> ReleaseReply.requeued(acquired));
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        CompletableFuture<Boolean> abandoned =
                scripts.run(LuaScript.ABANDON, keys.of(name), new String[] {holderId}, reply -> ended(name, reply));
        // Only afterwards: the answer of an acquire of this id that is under way would begin to listen.
        return abandoned.whenComplete((held, error) -> messages.redisson().unwatch(name, holderId));
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return scripts.run(LuaScript.INSPECT, keys.of(name), new String[0], reply -> {
            observe(name, reply);
            long remaining = reply.number();
            long base = reply.number();
            int waiting = reply.integer();
            String holder = reply.text();
            return holder.isEmpty() ? StoreState.free(waiting) : new StoreState(holder, remaining, base, waiting);
        });
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        String[] args = holder == null ? new String[0] : new String[] {holder};
        return scripts.run(LuaScript.FORCE, keys.of(name), args, reply -> forced(name, reply));
    }

    private ForceReply forced(String name, ScriptReply reply) {
        int code = reply.integer();
        if (code == NOT_A_LOCK) {
            throw errors.notDeleted(name, reply.text());
        }
        if (code == 1) {
            leftFree(name, reply);
            String holder = reply.text();
            if (!scripts.allowed().pushes() && !HolderId.isForeign(holder)) {
                hints.forced(name, holder);
            }
            return new ForceReply.Ended(holder);
        }
        return code == 0 ? new ForceReply.Free() : new ForceReply.HeldBy(reply.text());
    }

    /** Returns how late an acquire may take effect: its "not after" refuses it after the timeout. */
    @Override
    public Duration lateness() {
        // The server's clock runs at its own rate, and in whole ms.
        return settings.timeout().plus(settings.timeout().dividedBy(100)).plusMillis(100);
    }

    @Override
    public Duration recovery() {
        return settings.recovery();
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

    /** For tests: to count the subscribed channels of Redisson. */
    public RedisMessages messages() {
        return messages;
    }

    /** For tests: to read what this server allows, and to use less. */
    public Scripts scripts() {
        return scripts;
    }

    private AcquireReply acquired(AcquireRequest request, boolean granted, ScriptReply reply) {
        String name = request.name();
        if (granted) {
            messages.redisson().unwatch(name, request.holderId());
            return new AcquireReply.Granted(reply.number(), reply.integer());
        }
        long remaining = reply.number();
        int ahead = reply.integer();
        int kind = reply.integer();
        String holder = reply.text();
        if (kind == HELD_BY_REDISSON) {
            redissonSeen.now();
        }
        if (request.queue()) {
            messages.subscriptions().waiting(name);
            if (!scripts.allowed().pushes() && ahead == 0 && kind == OURS) {
                hints.contended(name, holder);
            }
        }
        if (request.queue() && kind == HELD_BY_REDISSON && ahead <= LISTENERS_AHEAD_MAX) {
            messages.redisson().watch(name, request.holderId(), request.nonce());
        } else {
            messages.redisson().unwatch(name, request.holderId());
        }
        return new AcquireReply.Busy(remaining, ahead, holder);
    }

    /** Reads the reply of a script that ends the hold of an id; returns whether there was one. */
    private boolean ended(String name, ScriptReply reply) {
        boolean wasHeld = reply.integer() == 1;
        if (wasHeld) {
            leftFree(name, reply);
        }
        return wasHeld;
    }

    /** Reads which client to notify, and how many Redisson clients received the release. */
    private void leftFree(String name, ScriptReply reply) {
        tell(name, reply.text());
        if (reply.number() > 0) {
            redissonSeen.now();
        }
    }

    /** Sends the hint of a release if scripts may not publish. */
    private void tell(String name, String firstWaiting) {
        if (!scripts.allowed().pushes()) {
            hints.released(name, firstWaiting);
        }
    }

    /** Returns the argument that asks for a place in the queue. */
    private static String place(AcquireRequest request) {
        return request.pollMillis() + ":" + Long.toString(request.nonce(), RedisMessages.NONCE_RADIX);
    }

    /** Returns the server time after which no caller waits for the answer, so the server refuses the command. */
    private String notAfter(String name) {
        return Long.toString(connections.clock(name).notAfterMillis(settings.timeout()));
    }

    private void observe(String name, ScriptReply reply) {
        connections.clock(name).observe(reply.number());
    }
}
