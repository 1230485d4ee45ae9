package io.holdfast.engine;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockStoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A call of {@link Lease#extend}: a thread or a stage waits for the engine's answer. */
final class LeaseExtension {

    final ActiveLease lease;

    /** The time that the lease shall have left, from the request on. */
    final long nanos;

    /** Completes when the engine has an answer, or fails with a {@link LockStoreException}. */
    private final CompletableFuture<@Nullable Void> answer = new CompletableFuture<>();

    LeaseExtension(ActiveLease lease, long nanos) {
        this.lease = lease;
        this.nanos = nanos;
    }

    /** Called by the engine, once. */
    void end(@Nullable LockStoreException why) {
        if (why == null) {
            answer.complete(null);
        } else {
            answer.completeExceptionally(why);
        }
    }

    /** Waits for the answer, even when interrupted: the store's command timeout bounds the wait. */
    void await() {
        try {
            Answers.await(answer);
        } catch (CompletionException e) {
            if (e.getCause() instanceof LockStoreException failed) {
                throw failed;
            }
            throw e;
        }
        lease.ensureValid();
    }

    CompletionStage<Void> stage() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        CompletionStage<@Nullable Void> answered = answer;
        answered.whenComplete((nothing, failed) -> lease.hold.engine.callbacks().execute(() -> {
            if (failed != null) {
                done.completeExceptionally(failed);
                return;
            }
            try {
                lease.ensureValid();
                done.complete(null);
            } catch (LeaseLostException | IllegalStateException ended) {
                done.completeExceptionally(ended);
            }
        }));
        return done;
    }
}
