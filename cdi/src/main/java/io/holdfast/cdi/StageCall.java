package io.holdfast.cdi;

import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import jakarta.interceptor.InvocationContext;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A call of a method that returns a stage. No thread waits: the client's callback executor calls the method once the
 * lock is acquired, and the lock is released when the method's stage completes. If the caller completes the returned
 * stage, in any way, the wait is withdrawn and the method is not called.
 */
final class StageCall {

    private final LockedMethod method;
    private final LockClient client;
    private final InvocationContext call;
    private final CompletableFuture<@Nullable Object> result = new CompletableFuture<>();

    StageCall(LockedMethod method, LockClient client, InvocationContext call) {
        this.method = method;
        this.client = client;
        this.call = call;
    }

    CompletableFuture<@Nullable Object> run(String name, LockOptions options) {
        CompletableFuture<Lease> acquiring =
                method.acquireAsync(client, name, options).toCompletableFuture();
        // Has no effect after an outcome of the wait.
        CompletionStage<@Nullable Object> outcome = result;
        outcome.whenComplete((value, why) -> acquiring.cancel(true));
        // Without an executor, Async means the client's callback executor, even when the lock is held already.
        CompletionStage<Lease> acquired = acquiring;
        acquired.whenCompleteAsync((lease, why) -> {
            if (why != null) {
                notAcquired(unwrapped(why));
            } else if (result.isDone()) {
                // The caller completed the result after the grant. Nothing else would release the lease.
                lease.releaseAsync();
            } else {
                runUnder(lease);
            }
        });
        return result;
    }

    private void notAcquired(Throwable why) {
        if (why instanceof LockTimeoutException && method.onBusy() == OnBusy.SKIP) {
            result.complete(null);
        } else {
            result.completeExceptionally(why);
        }
    }

    private void runUnder(Lease lease) {
        CompletionStage<?> work;
        // The lease is released when the stage completes: for calls nested in this one it is the thread's until then.
        Held held = Held.add(client, method, lease, Duration.ZERO);
        try {
            LockedMethods.give(call, method.leaseParameter(), lease);
            Object returned = call.proceed();
            work = returned == null ? CompletableFuture.completedFuture(null) : (CompletionStage<?>) returned;
        } catch (Throwable e) {
            work = CompletableFuture.failedFuture(e);
        } finally {
            held.remove();
        }
        passCancelTo(work);
        work.whenComplete((value, why) -> lease.releaseHoldingAtLeastAsync(method.holdAtLeast())
                .whenComplete((nothing, atRelease) -> end(value, why, atRelease)));
    }

    private void end(@Nullable Object value, @Nullable Throwable why, @Nullable Throwable atRelease) {
        if (why == null && atRelease == null) {
            result.complete(value);
            return;
        }
        Throwable first = unwrapped(why != null ? why : requireNonNull(atRelease));
        if (why != null && atRelease != null && unwrapped(atRelease) instanceof LeaseLostException lost) {
            first.addSuppressed(lost);
        }
        result.completeExceptionally(first);
    }

    private void passCancelTo(CompletionStage<?> work) {
        CompletionStage<@Nullable Object> outcome = result;
        outcome.whenComplete((value, why) -> {
            if (result.isCancelled()) {
                try {
                    work.toCompletableFuture().cancel(true);
                } catch (UnsupportedOperationException e) {
                    // A stage may refuse the conversion. Its work continues and cannot be cancelled.
                }
            }
        });
    }

    private static Throwable unwrapped(Throwable why) {
        return why instanceof CompletionException && why.getCause() != null ? why.getCause() : why;
    }
}
