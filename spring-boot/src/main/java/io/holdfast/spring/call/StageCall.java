package io.holdfast.spring.call;

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
import org.springframework.aop.support.AopUtils;

/**
 * A method that returns a stage. No thread waits: it is called on the client's callback executor once the lock is there, and
 * the lock is released when its stage is complete. If the caller ends the returned stage in any way, the wait is withdrawn and
 * the method is not called; a cancel is passed on to the method's own stage.
 *
 * <p>With {@code @Async} the method is called by the thread that {@code @Async} chose, which waits for the lock: that thread
 * would otherwise wait for the stage.
 */
public final class StageCall {

    private final LockedCall call;
    private final CallWatch watch;
    private final CompletableFuture<@Nullable Object> result = new CompletableFuture<>();

    /** What a cancel is passed on to: the method's own stage, once there is one. */
    private final AtomicReference<@Nullable CompletableFuture<?>> cancellable = new AtomicReference<>();

    StageCall(LockedCall call) {
        this.call = call;
        this.watch = call.begin();
    }

    CompletableFuture<@Nullable Object> run() {
        if (AsyncMethods.isOnChosenExecutor(
                call.invocation(), AopUtils.getTargetClass(LockedCall.target(call.invocation())))) {
            runHere();
            return result;
        }
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
        CompletionStage<@Nullable Object> outcome = result;
        outcome.whenComplete((value, why) -> {
            // However the caller ended it, unless it was by the outcome: that comes when nothing is waited for any
            // more.
            acquiring.cancel(true);
            passOnCancel();
        });
        CompletionStage<MultiLease> acquired = acquiring;
        // Async without an executor means on the callback executor, even when the lock is there by now.
        acquired.whenCompleteAsync((leases, why) -> {
            if (why != null) {
                notAcquired(why);
            } else {
                acquired(leases, invocation);
            }
        });
        return result;
    }

    private void runHere() {
        MultiLease leases;
        try {
            leases = call.client().acquireAll(call.names(), call.operation().options());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            CancellationException cancelled =
                    new CancellationException("Interrupted while waiting for the lock " + call.names());
            cancelled.initCause(e);
            notAcquired(cancelled);
            return;
        } catch (RuntimeException | Error e) {
            notAcquired(e);
            return;
        }
        CompletionStage<@Nullable Object> outcome = result;
        outcome.whenComplete((value, why) -> passOnCancel());
        acquired(leases, call.invocation());
    }

    private void acquired(MultiLease leases, MethodInvocation invocation) {
        if (result.isDone()) {
            // The caller ended it after the grant. Nobody else would release them, and nobody wants the method's
            // result.
            leases.releaseAsync().whenComplete((nothing, lost) -> watch.ended("cancelled", null));
            return;
        }
        try {
            watch.acquired();
            runUnder(leases, invocation);
        } catch (Throwable e) {
            // The method has not run, so nobody would ever release them.
            leases.releaseAsync().whenComplete((nothing, lost) -> end(null, e));
        }
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
        passOnCancel();
    }

    private void passOnCancel() {
        CompletableFuture<?> running = cancellable.get();
        if (running != null && result.isCancelled()) {
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
