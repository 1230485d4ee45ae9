package io.holdfast.redis.lua;

import io.holdfast.redis.RedissonChannels;
import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.connect.StageGuard;
import io.holdfast.redis.messages.RedisMessages;
import io.holdfast.redis.messages.RedissonReleases;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.RefusedCommands;
import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RecordStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The store of mode {@code lua}: each command is one script, whose head documents its arguments and results. It is a
 * store of locks, or its view of pools; {@link NameKind} has the difference.
 *
 * <p>Keeps no state of locks except which of Redisson's releases it listens for ({@link RedissonReleases}). Stages
 * complete on the driver's I/O thread.
 */
public final class LuaLockStore implements LockStore {

    private static final int NOT_A_LOCK = -3;
    private static final int RELEASED_AND_HELD = 2;
    private static final int RELEASED_TOO_LATE = 4;

    /** The code of a withdrawal from a pool that served those behind the id. */
    private static final int LEFT_QUEUE = 2;

    private final LuaParts parts;
    private final Scripts scripts;
    private final RedisErrors errors;
    private final RedisMessages messages;
    private final Hints hints;
    private final LuaAcquires acquires;
    private final BatchRenewals renewals;
    private final AcquireAllScript acquireAll;
    private final RedissonSeen redissonSeen;

    /** The commands that the scripts of pools need and this user may not run. */
    private final RefusedCommands refusedToPools;

    private final Runnable closing;

    /** Null if the store does not wait for replicas. */
    private final @Nullable ReplicatedAcquires replicated;

    private final AtomicBoolean closed = new AtomicBoolean();

    /** The view of pools, once somebody has asked for it; always null in the view. */
    private final AtomicReference<@Nullable LuaLockStore> pools = new AtomicReference<>();

    /**
     * Makes the store of locks.
     *
     * @param refusedToPools the commands that the scripts of pools need and this user may not run
     * @param closing closes the connections
     */
    public LuaLockStore(
            RedisSettings settings,
            RedisKeys keys,
            Scripts scripts,
            RedisErrors errors,
            RedisConnections connections,
            RedisMessages messages,
            TimeSource time,
            RefusedCommands refusedToPools,
            Runnable closing) {
        this(
                new LuaParts(NameKind.LOCKS, settings, keys, scripts, errors, connections, messages),
                new RedissonSeen(time, settings.redissonChannels() != RedissonChannels.NONE),
                settings.minReplicas() == 0 ? null : new ReplicatedAcquires(settings, connections, errors),
                refusedToPools,
                closing);
    }

    private LuaLockStore(
            LuaParts parts,
            RedissonSeen redissonSeen,
            @Nullable ReplicatedAcquires replicated,
            RefusedCommands refusedToPools,
            Runnable closing) {
        this.parts = parts;
        this.scripts = parts.scripts();
        this.errors = parts.errors();
        this.messages = parts.messages();
        this.redissonSeen = redissonSeen;
        this.replicated = replicated;
        this.refusedToPools = refusedToPools;
        this.closing = closing;
        this.hints = new Hints(parts);
        this.acquires = new LuaAcquires(parts, hints, redissonSeen, replicated);
        this.renewals = new BatchRenewals(parts);
        this.acquireAll = new AcquireAllScript(parts.allKeys(), scripts, errors, parts.connections(), redissonSeen);
    }

    /** Returns the view of pools: the same connections and messages, other scripts and other keys. */
    @Override
    public Optional<LockStore> pools() {
        if (parts.areOfPools()) {
            return Optional.empty();
        }
        if (pools.get() == null) {
            pools.compareAndSet(
                    null, new LuaLockStore(parts.ofPools(), redissonSeen, replicated, refusedToPools, () -> {}));
        }
        return Optional.ofNullable(pools.get());
    }

    @Override
    public Optional<RecordStore> records() {
        return parts.areOfPools() ? Optional.empty() : Optional.of(new LuaRecords(parts.allKeys(), scripts));
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        StoreException refusal =
                parts.areOfPools() ? PoolRequests.refusal(request, parts.settings(), refusedToPools) : null;
        if (refusal != null) {
            return CompletableFuture.failedFuture(refusal);
        }
        return acquires.acquire(request);
    }

    /** Returns whether one command may take these locks. Not if replicas are waited for: that is done lock by lock. */
    @Override
    public boolean canAcquireAll(List<String> names) {
        return !parts.areOfPools() && replicated == null && acquireAll.takes(names);
    }

    @Override
    public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
        return acquires.afterServerTime(requests.get(0).name(), () -> acquireAll.acquire(requests));
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
        return scripts.run(parts.kind().release, parts.keys(name), new String[] {holderId}, reply -> {
            messages.redisson().unwatch(name, holderId);
            return ReleaseReply.of(ended(name, reply));
        });
    }

    private CompletionStage<ReleaseReply> releaseAndQueue(ReleaseRequest request, AcquireRequest requeue) {
        String name = request.name();
        if (replicated != null
                || !messages.subscriptions().ready(name)
                || !parts.connections().clock(name).isKnown()
                || (parts.areOfPools() && !parts.pushes())) {
            // By two commands: replicas must have the hold before its lease is handed out, or nobody would receive the
            // grant, or the first in the queue of the pool is to get a hint.
            return releaseOnly(name, request.holderId())
                    .thenCompose(
                            reply -> reply.wasHeld() ? acquireNext(requeue) : CompletableFuture.completedFuture(reply));
        }
        List<String> args = new ArrayList<>(List.of(
                request.holderId(),
                requeue.holderId(),
                Long.toString(requeue.leaseMillis()),
                LuaAcquires.place(requeue),
                parts.notAfter(name)));
        acquires.addWeight(requeue, args);
        String[] all = args.toArray(String[]::new);
        return scripts.run(parts.kind().release, parts.keys(name), all, (reply, outcome) -> {
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
            parts.observe(name, reply);
            AcquireReply acquired = acquires.acquired(requeue, code == RELEASED_AND_HELD, reply);
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
        CompletableFuture<Boolean> abandoned = scripts.run(
                parts.kind().abandon, parts.keys(name), new String[] {holderId}, reply -> ended(name, reply));
        // Only afterwards: the answer of an acquire of this id that is under way would begin to listen.
        return abandoned.whenComplete((held, error) -> messages.redisson().unwatch(name, holderId));
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return scripts.run(parts.kind().inspect, parts.keys(name), new String[0], reply -> {
            parts.observe(name, reply);
            if (parts.areOfPools()) {
                return PoolRequests.state(reply);
            }
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
        return scripts.run(parts.kind().force, parts.keys(name), args, reply -> forced(name, reply));
    }

    private ForceReply forced(String name, ScriptReply reply) {
        int code = reply.integer();
        if (code == NOT_A_LOCK) {
            throw errors.notDeleted(name, reply.text());
        }
        if (code == 1) {
            leftFree(name, reply);
            String holder = reply.text();
            if (!parts.pushes() && !HolderId.isForeign(holder)) {
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
        return parts.settings()
                .timeout()
                .plus(parts.settings().timeout().dividedBy(100))
                .plusMillis(100);
    }

    @Override
    public Duration recovery() {
        return parts.settings().recovery();
    }

    @Override
    public void listen(StoreListener listener) {
        if (parts.areOfPools()) {
            messages.listenToPools(listener);
        } else {
            messages.listen(listener);
        }
    }

    @Override
    public String describe() {
        return parts.settings().describe();
    }

    /** Does nothing in a view: the store of locks closes what both use. */
    @Override
    public void close() {
        if (!parts.areOfPools() && closed.compareAndSet(false, true)) {
            messages.stop();
            scripts.close();
            LuaLockStore view = pools.get();
            if (view != null) {
                view.scripts.close();
            }
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

    /** Returns the messages, for tests that count the subscribed channels of Redisson. */
    public RedisMessages messages() {
        return messages;
    }

    /** Returns the scripts, for tests that read what this server allows, and use less. */
    public Scripts scripts() {
        return scripts;
    }

    /** Reads the reply of a script that ends the hold of an id; returns whether there was one. */
    private boolean ended(String name, ScriptReply reply) {
        int code = reply.integer();
        if (code == 1 || code == LEFT_QUEUE) {
            leftFree(name, reply);
        }
        return code == 1;
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
        if (!parts.pushes()) {
            hints.released(name, firstWaiting);
        }
    }
}
