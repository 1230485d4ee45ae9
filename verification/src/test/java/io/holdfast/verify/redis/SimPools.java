package io.holdfast.verify.redis;

import io.holdfast.engine.PoolBug;
import io.holdfast.spi.StoreListener;
import io.holdfast.verify.engine.ForwardingStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The pools of a {@link SimStore}: the same connection, and the same server. */
final class SimPools extends ForwardingStore {

    private final PoolBug bug;

    @Nullable
    StoreListener listener;

    SimPools(SimStore all, PoolBug bug) {
        super(all);
        this.bug = bug;
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        return bug == PoolBug.NOTHING_IS_WITHDRAWN
                ? CompletableFuture.completedFuture(true)
                : real.abandon(name, holderId);
    }

    @Override
    public void listen(StoreListener receiver) {
        listener = receiver;
    }

    @Override
    public void close() {
        listener = null;
    }
}
