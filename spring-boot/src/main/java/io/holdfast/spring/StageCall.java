package io.holdfast.spring;

import io.holdfast.LeaseLostException;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * A method that returns a stage. No thread waits: it is called on the client's callback executor once the lock is there, and
 * the lock is released when its stage is complete. Cancelling the returned stage cancels the wait, or the method's own stage.
 */
final class StageCall {

    private final LockedCall call;
    private final CallWatch watch;
    private final CompletableFuture<@Nullable Object> result = new CompletableFuture<>();

    /** What a cancel is passed on to: the acquisition, then the method's own stage. */
    private final AtomicReference<@Nullable CompletableFuture<?>> cancellable = new AtomicReference<>();

    StageCall(LockedCall call) {
        this.call = call;
        this.watch = call.begin();
    }

    CompletableFuture<@Nullable Object> run() {
        MethodInvocation invocation = call.later();
        CompletableFuture<MultiLease> acquiring;
        try {
            acquiring = call.client()
                    .acquireAllAsync(call.names(), call.operation().options())
                    .toCompletableFuture();
        } catch (RuntimeException | Error e) {
            watch.ended("error", e);
            throw e;
        }
        cancelTogether(acquiring);
        CompletionStage<@Nullable Object> outcome = result;
        outcome.whenComplete((value, why) -> {
            CompletableFuture<?> running = cancellable.get();
            if (why instanceof CancellationException && running != null) {
                running.cancel(true);
            }
        });
        CompletionStage<MultiLease> acquired = acquiring;
        acquired.whenComplete((leases, why) -> {
            if (why != null) {
                notAcquired(why);
            } else {
                try {
                    watch.acquired();
                    runUnder(leases, invocation);
                } catch (Throwable e) {
                    // The method has not run, so nobody would ever release them.
                    leases.releaseAsync().whenComplete((nothing, lost) -> end(null, e));
                }
            }
        });
        return result;
    }

    private void runUnder(MultiLease leases, MethodInvocation invocation) {
        LockedCall.Losses losses = call.watchLosses(leases);
        call.giveLease(invocation, leases);
        CompletionStage<?> work;
        HeldLeases.Entry held = HeldLeases.add(call.client(), leases);
        try {
            Object returned = invocation.proceed();
            work = returned == null ? CompletableFuture.completedFuture(null) : (CompletionStage<?>) returned;
        } catch (Throwable e) {
            work = CompletableFuture.failedFuture(e);
        } finally {
            held.remove();
        }
        cancelIfPossible(work);
        work.whenComplete((value, why) -> {
            Throwable failure = unwrapped(why);
            leases.releaseAsync(call.operation().holdAtLeast())
                    .whenComplete((nothing, lost) -> end(value, atRelease(losses, failure, lost)));
        });
    }

    private static @Nullable Throwable atRelease(
            LockedCall.Losses losses, @Nullable Throwable failure, @Nullable Throwable atRelease) {
        if (unwrapped(atRelease) instanceof LeaseLostException lost) {
            return losses.outcome(failure, lost);
        }
        return failure != null ? failure : atRelease;
    }

    private void notAcquired(Throwable why) {
        Throwable cause = unwrapped(why);
        if (!(cause instanceof LockTimeoutException busy)) {
            try {
                watch.ended(cause instanceof CancellationException ? "cancelled" : "error", cause);
            } finally {
                result.completeExceptionally(java.util.Objects.requireNonNull(cause));
            }
            return;
        }
        try {
            Object instead = call.alternative(busy, watch);
            CompletionStage<?> stage =
                    instead == null ? CompletableFuture.completedFuture(null) : (CompletionStage<?>) instead;
            cancelIfPossible(stage);
            stage.whenComplete((value, failure) -> end(value, unwrapped(failure)));
        } catch (Throwable e) {
            end(null, e);
        }
    }

    private void end(@Nullable Object value, @Nullable Throwable failure) {
        try {
            watch.ended(
                    failure == null ? "completed" : failure instanceof LeaseLostException ? "lost" : "failed", failure);
        } finally {
            // Also if an observation's handler throws: the caller waits for it.
            if (failure == null) {
                result.complete(value);
            } else {
                result.completeExceptionally(failure);
            }
        }
    }

    /** Written before the result is looked at, so that a cancel finds it or is found. */
    private void cancelTogether(CompletableFuture<?> running) {
        cancellable.set(running);
        if (result.isCancelled()) {
            running.cancel(true);
        }
    }

    private void cancelIfPossible(CompletionStage<?> running) {
        try {
            cancelTogether(running.toCompletableFuture());
        } catch (RuntimeException e) {
            // A stage may refuse that, and with what it likes: then its work, which goes on, cannot be cancelled.
        }
    }

    private static @Nullable Throwable unwrapped(@Nullable Throwable why) {
        return why instanceof CompletionException && why.getCause() != null ? why.getCause() : why;
    }
}
