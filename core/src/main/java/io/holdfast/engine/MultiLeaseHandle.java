package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.MultiLease;
import io.holdfast.log.Quoted;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** Leases that were acquired together. */
final class MultiLeaseHandle implements MultiLease {

    private final List<Lease> leases;

    MultiLeaseHandle(List<Lease> leases) {
        this.leases = List.copyOf(leases);
    }

    @Override
    public List<Lease> leases() {
        return leases;
    }

    @Override
    public Lease lease(String name) {
        for (Lease lease : leases) {
            if (lease.name().equals(name)) {
                return lease;
            }
        }
        throw new IllegalArgumentException("lock name: " + Quoted.name(name) + " (expected: one of "
                + Quoted.names(leases.stream().map(Lease::name).toList()) + ")");
    }

    @Override
    public boolean isValid() {
        // Asks every lease, so that the engine receives an event for each one that is over.
        boolean valid = true;
        for (Lease lease : leases) {
            valid &= lease.isValid();
        }
        return valid;
    }

    @Override
    public Duration remaining() {
        return leases.stream().map(Lease::remaining).min(Duration::compareTo).orElse(Duration.ZERO);
    }

    @Override
    public void ensureValid() {
        leases.forEach(Lease::ensureValid);
    }

    @Override
    public void extend(Duration time) {
        // All commands are on their way before this thread waits for the first answer.
        Answer.awaitAll(extendAll(time));
    }

    @Override
    public CompletionStage<Void> extendAsync(Duration time) {
        return Answer.stageOfAll(extendAll(time));
    }

    private List<? extends Answer<?>> extendAll(Duration time) {
        Limits.checkLease("time", time);
        return leases.stream()
                .map(lease -> LeaseHandle.active(lease).extending(time))
                .toList();
    }

    @Override
    public void onLost(Consumer<? super Lease> callback) {
        requireNonNull(callback, "callback");
        for (Lease each : leases) {
            // The engine keeps the callback, so the callback must not keep the handle of a forgotten lease.
            ActiveLease lease = LeaseHandle.active(each);
            lease.onLost(() -> callback.accept(lease.asSeen()));
        }
    }

    @Override
    public void releaseHoldingAtLeast(Duration holdAtLeast) {
        // All releases are on their way before this thread waits for the first answer.
        Answer.awaitAll(endAll(holdAtLeast));
    }

    @Override
    public CompletionStage<Void> releaseHoldingAtLeastAsync(Duration holdAtLeast) {
        return Answer.stageOfAll(endAll(holdAtLeast));
    }

    /** Releases the leases that are still held. No caller has received them, so none needs to learn of a loss. */
    static void releaseQuietly(List<Lease> leases) {
        leases.forEach(lease -> LeaseHandle.active(lease).releaseQuietly());
    }

    @Override
    public String toString() {
        return "MultiLease" + leases;
    }

    private List<? extends Answer<?>> endAll(Duration holdAtLeast) {
        Limits.checkWait("holdAtLeast", holdAtLeast);
        try {
            return leases.stream()
                    .map(lease -> LeaseHandle.active(lease).end(holdAtLeast))
                    .toList();
        } finally {
            // Leases that are being released are not forgotten.
            Reference.reachabilityFence(this);
        }
    }
}
