package io.holdfast.verify.engine;

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
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Forwards what every store has to another one. A method with a default does what its default does: a subclass that
 * overrides {@link #renew} sees all renewals.
 */
public abstract class ForwardingStore implements LockStore {

    protected final LockStore real;

    protected ForwardingStore(LockStore real) {
        this.real = real;
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return real.acquire(request);
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return real.renew(request);
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        return real.release(request);
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        return real.abandon(name, holderId);
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return real.inspect(name);
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return real.forceRelease(name, holder);
    }

    @Override
    public Duration lateness() {
        return real.lateness();
    }

    @Override
    public void listen(StoreListener listener) {
        real.listen(listener);
    }

    @Override
    public String describe() {
        return real.describe();
    }

    @Override
    public void close() {
        real.close();
    }
}
