package io.holdfast;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Leases that were acquired together. */
final class LeaseGroup implements MultiLease {

    private final List<ActiveLease> leases;

    LeaseGroup(List<ActiveLease> leases) {
        this.leases = List.copyOf(leases);
    }

    @Override
    public List<Lease> leases() {
        return List.copyOf(leases);
    }

    @Override
    public Lease lease(String name) {
        for (ActiveLease lease : leases) {
            if (lease.name().equals(name)) {
                return lease;
            }
        }
        throw new IllegalArgumentException("lock name: " + Quoted.name(name) + " (expected: one of "
                + Quoted.names(leases.stream().map(ActiveLease::name).toList()) + ")");
    }

    @Override
    public boolean isValid() {
        // Each is asked, so that the engine hears of every one that is over.
        boolean valid = true;
        for (ActiveLease lease : leases) {
            valid &= lease.isValid();
        }
        return valid;
    }

    @Override
    public Duration remaining() {
        return leases.stream()
                .map(ActiveLease::remaining)
                .min(Duration::compareTo)
                .orElse(Duration.ZERO);
    }

    @Override
    public void ensureValid() {
        leases.forEach(ActiveLease::ensureValid);
    }

    @Override
    public void onLost(Consumer<? super Lease> callback) {
        java.util.Objects.requireNonNull(callback, "callback");
        leases.forEach(lease -> lease.onLost(() -> callback.accept(lease)));
    }

    @Override
    public void release() {
        release(Duration.ZERO);
    }

    @Override
    public void release(Duration holdAtLeast) {
        // All are on their way before the first answer is waited for.
        List<ActiveLease.Ending> endings = endAll(holdAtLeast);
        LockException failed = null;
        for (ActiveLease.Ending ending : endings) {
            try {
                ending.await();
            } catch (LeaseLostException | LockStoreException e) {
                failed = first(failed, e);
            }
        }
        if (failed != null) {
            throw failed;
        }
    }

    @Override
    public CompletionStage<Void> releaseAsync() {
        return releaseAsync(Duration.ZERO);
    }

    @Override
    public CompletionStage<Void> releaseAsync(Duration holdAtLeast) {
        List<CompletableFuture<Void>> stages = new ArrayList<>();
        for (ActiveLease.Ending ending : endAll(holdAtLeast)) {
            stages.add(ending.stage().toCompletableFuture());
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        CompletionStage<Void> all = CompletableFuture.allOf(stages.toArray(CompletableFuture[]::new));
        all.whenComplete((nothing, why) -> {
            if (why == null) {
                done.complete(null);
            } else {
                done.completeExceptionally(why instanceof CompletionException ? why.getCause() : why);
            }
        });
        return done;
    }

    /** Those that are still held; nobody saw the group, so nobody needs to hear of a loss. */
    static void releaseQuietly(List<ActiveLease> leases) {
        leases.forEach(ActiveLease::releaseQuietly);
    }

    @Override
    public String toString() {
        return "MultiLease" + leases;
    }

    private List<ActiveLease.Ending> endAll(Duration holdAtLeast) {
        Limits.checkWait("holdAtLeast", holdAtLeast);
        List<ActiveLease.Ending> endings = new ArrayList<>();
        leases.forEach(lease -> endings.add(lease.end(holdAtLeast)));
        return endings;
    }

    private static LockException first(@Nullable LockException before, LockException next) {
        if (before == null) {
            return next;
        }
        before.addSuppressed(next);
        return before;
    }
}
