package io.holdfast.spring.declaration;

import io.holdfast.Lease;
import io.holdfast.MultiLease;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** One lease, as the only one that was acquired. */
record SingleLease(Lease only) implements MultiLease {

    @Override
    public List<Lease> leases() {
        return List.of(only);
    }

    @Override
    public Lease lease(String name) {
        if (!only.name().equals(name)) {
            throw new IllegalArgumentException("name: \"" + name + "\" (expected: \"" + only.name() + "\")");
        }
        return only;
    }

    @Override
    public boolean isValid() {
        return only.isValid();
    }

    @Override
    public Duration remaining() {
        return only.remaining();
    }

    @Override
    public void ensureValid() {
        only.ensureValid();
    }

    @Override
    public void extend(Duration time) {
        only.extend(time);
    }

    @Override
    public CompletionStage<Void> extendAsync(Duration time) {
        return only.extendAsync(time);
    }

    @Override
    public void onLost(Consumer<? super Lease> callback) {
        only.onLost(() -> callback.accept(only));
    }

    @Override
    public void releaseHoldingAtLeast(Duration holdAtLeast) {
        only.releaseHoldingAtLeast(holdAtLeast);
    }

    @Override
    public CompletionStage<Void> releaseHoldingAtLeastAsync(Duration holdAtLeast) {
        return only.releaseHoldingAtLeastAsync(holdAtLeast);
    }
}
