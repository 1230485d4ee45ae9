package io.holdfast.verify.redis;

import io.holdfast.engine.PoolBug;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The pools of a {@link SimStore}: the same connection, and the same server. */
final class SimPools implements LockStore {

    private final SimStore all;
    private final PoolBug bug;

    @Nullable
    StoreListener listener;

    SimPools(SimStore all, PoolBug bug) {
        this.all = all;
        this.bug = bug;
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return all.acquire(request);
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return all.renew(request);
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        return all.release(request);
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        return bug == PoolBug.NOTHING_IS_WITHDRAWN
                ? CompletableFuture.completedFuture(true)
                : all.abandon(name, holderId);
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return all.inspect(name);
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return all.forceRelease(name, holder);
    }

    @Override
    public Duration lateness() {
        return all.lateness();
    }

    @Override
    public void listen(StoreListener receiver) {
        listener = receiver;
    }

    @Override
    public String describe() {
        return all.describe();
    }

    @Override
    public void close() {
        listener = null;
    }
}
