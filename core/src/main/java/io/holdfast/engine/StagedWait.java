package io.holdfast.engine;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.log.Quoted;
import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A wait without a thread: delivers the outcome of a {@link Waiter} to the caller's stage, on the callback executor,
 * and withdraws the wait if the caller ends the stage.
 *
 * <p>Invariant: a lease that the caller's stage does not take is released here.
 */
record StagedWait(Waiter waiter, NameEvents engine, CompletableFuture<Lease> outcome) {

    CallbackStage<Lease> stage() {
        CallbackStage<Lease> stage = new CallbackStage<>(engine.callbacks());
        CompletionStage<Lease> watched = stage;
        watched.whenComplete((v, why) -> {
            // The caller may have ended the stage by a cancel, by orTimeout or by a value of its own.
            if (!outcome.isDone()) {
                waiter.withdraw();
            }
        });
        // Dependents of the stage are the user's code: never on the store's thread.
        CompletionStage<Lease> ended = outcome;
        Duration within = waiter.options.leaseFor().orElse(Duration.ofNanos(engine.settings().leaseNanos));
        ended.whenComplete((granted, why) -> engine.callbacks()
                .deliver(
                        () -> {
                            if (why != null) {
                                stage.completeExceptionally(why);
                            } else if (!stage.complete(granted)) {
                                // Cancelled in the last moment: no user will ever release it.
                                LeaseHandle.active(granted).releaseQuietly();
                            }
                        },
                        () -> {
                            if (why != null) {
                                stage.completeExceptionally(why);
                            } else {
                                // No user has seen the lease, so only this stops its renewal.
                                LeaseHandle.active(granted).releaseQuietly();
                                stage.completeExceptionally(undelivered(granted, within));
                            }
                        },
                        engine.time(),
                        within.toNanos()));
        return stage;
    }

    private static LeaseLostException undelivered(Lease lease, Duration within) {
        return new LeaseLostException("The lease on " + Quoted.name(lease.name()) + " with token "
                + lease.fencingToken()
                + " was released: the callback executor did not begin to deliver it within " + DurationText.of(within)
                + " (expected: an executor that runs every task, and is shut down after the client is closed)");
    }
}
