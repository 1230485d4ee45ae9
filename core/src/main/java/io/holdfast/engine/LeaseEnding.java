package io.holdfast.engine;

import io.holdfast.LockStoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The end of a lease by its user, from the call on: a thread or a stage waits for the engine's answer.
 *
 * @param answer the engine's answer to the release; null if the lease had ended before the call
 */
record LeaseEnding(ActiveLease lease, @Nullable CompletableFuture<Boolean> answer) {

    private static final String UNKNOWN_AT_RELEASE = "at its release the store no longer knew it";

    /** Waits for the answer, even when interrupted: the store's command timeout bounds the wait. */
    void await() {
        if (answer == null) {
            if (!lease.isReleased()) {
                throw lease.lostException();
            }
            return;
        }
        boolean wasGone;
        try {
            wasGone = Answers.await(answer);
        } catch (CompletionException e) {
            if (e.getCause() instanceof LockStoreException failed) {
                throw failed;
            }
            throw e;
        }
        if (wasGone) {
            throw lease.lostException(UNKNOWN_AT_RELEASE);
        }
    }

    CompletionStage<Void> stage() {
        if (answer == null) {
            return lease.isReleased()
                    ? CompletableFuture.completedFuture(null)
                    : CompletableFuture.failedFuture(lease.lostException());
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        CompletionStage<Boolean> answered = answer;
        answered.whenComplete((wasGone, failed) -> lease.hold.engine.callbacks().execute(() -> {
            if (failed != null) {
                done.completeExceptionally(failed);
            } else if (wasGone) {
                done.completeExceptionally(lease.lostException(UNKNOWN_AT_RELEASE));
            } else {
                done.complete(null);
            }
        }));
        return done;
    }
}
