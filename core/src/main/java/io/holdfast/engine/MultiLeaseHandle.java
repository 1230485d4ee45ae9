package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockException;
import io.holdfast.LockStoreException;
import io.holdfast.MultiLease;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;

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
        awaitAll(extendAll(time), LeaseExtension::await);
    }

    @Override
    public CompletionStage<Void> extendAsync(Duration time) {
        return all(extendAll(time), LeaseExtension::stage);
    }

    private List<LeaseExtension> extendAll(Duration time) {
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
        awaitAll(endAll(holdAtLeast), LeaseEnding::await);
    }

    @Override
    public CompletionStage<Void> releaseHoldingAtLeastAsync(Duration holdAtLeast) {
        return all(endAll(holdAtLeast), LeaseEnding::stage);
    }

    /** Releases the leases that are still held. No caller has received them, so none needs to learn of a loss. */
    static void releaseQuietly(List<Lease> leases) {
        leases.forEach(lease -> LeaseHandle.active(lease).releaseQuietly());
    }

    @Override
    public String toString() {
        return "MultiLease" + leases;
    }

    private List<LeaseEnding> endAll(Duration holdAtLeast) {
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

    /** Waits for each of them, and then throws the first failure. */
    private static <T> void awaitAll(List<T> all, Consumer<T> await) {
        LockException failed = null;
        for (T each : all) {
            try {
                await.accept(each);
            } catch (LeaseLostException | LockStoreException e) {
                if (failed == null) {
                    failed = e;
                } else {
                    failed.addSuppressed(e);
                }
            }
        }
        if (failed != null) {
            throw failed;
        }
    }

    private static <T> CompletionStage<Void> all(List<T> all, Function<T, CompletionStage<Void>> stage) {
        CompletableFuture<?>[] stages = all.stream()
                .map(each -> stage.apply(each).toCompletableFuture())
                .toArray(CompletableFuture[]::new);
        CompletableFuture<Void> done = new CompletableFuture<>();
        CompletionStage<Void> answered = CompletableFuture.allOf(stages);
        answered.whenComplete((nothing, why) -> {
            if (why == null) {
                done.complete(null);
            } else {
                done.completeExceptionally(StoreErrors.cause(why));
            }
        });
        return done;
    }
}
