package io.holdfast.engine;

import io.holdfast.spi.AcquireAllReply;
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
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Passes everything on; a test overrides what it is about. */
public class ForwardingStore implements LockStore {

    private final LockStore store;

    public ForwardingStore(LockStore store) {
        this.store = store;
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return store.acquire(request);
    }

    @Override
    public boolean canAcquireAll(List<String> names) {
        return store.canAcquireAll(names);
    }

    @Override
    public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
        return store.acquireAll(requests);
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return store.renew(request);
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        return store.release(request);
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        return store.abandon(name, holderId);
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return store.inspect(name);
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return store.forceRelease(name, holder);
    }

    @Override
    public void leave(String name, String holderId, BooleanSupplier inUse) {
        store.leave(name, holderId, inUse);
    }

    @Override
    public void listen(StoreListener listener) {
        store.listen(listener);
    }

    @Override
    public String describe() {
        return store.describe();
    }

    @Override
    public void close() {
        store.close();
    }
}
