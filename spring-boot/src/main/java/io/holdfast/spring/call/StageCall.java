package io.holdfast.spring.call;

import io.holdfast.LeaseLostException;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.AopUtils;

/**
 * A call of a method that returns a stage. No thread waits: the client's callback executor calls the method once the
 * lock is acquired, and the lock is released when the method's stage completes. If the caller completes the returned
 * stage, in any way, the wait is withdrawn and the method is not called; a cancel is passed on to the method's stage.
 *
 * <p>With {@code @Async}, the thread that {@code @Async} chose waits for the lock and calls the method: it would
 * otherwise wait for the stage.
 */
final class StageCall {

    /** The leases of a call, which that call releases itself. */
    record Holding(LockedCall call, MultiLease leases) {}

    private final LockedCall call;
    private final List<Holding> around;
    private final ObservedCall observed;
    private final CompletableFuture<@Nullable Object> result = new CompletableFuture<>();

    /** The method's own stage, once it exists: it receives a cancel. */
    private final AtomicReference<@Nullable CompletableFuture<?>> cancellable = new AtomicReference<>();

    /** @param around what calls of the same method hold around this one, until the returned stage completes */
    StageCall(LockedCall call, List<Holding> around) {
        this.call = call;
        this.around = around;
        this.observed = call.begin();
    }

    CompletableFuture<@Nullable Object> run() {
        if (isOnExecutorOfAsync(call.invocation())) {
            runHere();
            return result;
        }
        MethodInvocation invocation = call.later();
        CompletableFuture<MultiLease> acquiring;
        try {
            acquiring = call.wanted()
                    .acquireAsync(call.client(), call.names(), call.operation().options());
        } catch (RuntimeException | Error e) {
            observed.ended("error", e);
            throw e;
        }
        CompletionStage<@Nullable Object> outcome = result;
        outcome.whenComplete((value, why) -> {
            // Has no effect after an outcome of the call: the wait is over by then.
            acquiring.cancel(true);
            passOnCancel();
        });
        CompletionStage<MultiLease> acquired = acquiring;
        // Without an executor, Async means the callback executor, even when the lock is held already.
        acquired.whenCompleteAsync((leases, why) -> {
            if (why != null) {
                notAcquired(why);
            } else {
                acquired(leases, invocation);
            }
        });
        return result;
    }

    /**
     * Returns whether {@code @Async} has brought the call to its executor, whose thread waits for the returned stage.
     */
    private static boolean isOnExecutorOfAsync(MethodInvocation invocation) {
        Class<?> targetClass = AopUtils.getTargetClass(LockedCall.target(invocation));
        return invocation instanceof ProxyMethodInvocation proxied
                && proxied.getProxy() instanceof Advised advised
                && Arrays.stream(advised.getAdvisors())
                        .anyMatch(each -> each.getAdvice() instanceof AsyncExecutionInterceptor
                                && each instanceof PointcutAdvisor pointed
                                && pointed.getPointcut().getClassFilter().matches(targetClass)
                                && pointed.getPointcut()
                                        .getMethodMatcher()
                                        .matches(
                                                AopUtils.getMostSpecificMethod(invocation.getMethod(), targetClass),
                                                targetClass));
    }

    private void runHere() {
        MultiLease leases;
        try {
            leases = call.wanted()
                    .acquire(call.client(), call.names(), call.operation().options());
        } catch (InterruptedException e) {
            notAcquired(LockedCall.cancelled(call.names(), e));
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
            // The caller completed the result after the grant. Nothing else would release the leases.
            leases.releaseAsync().whenComplete((nothing, lost) -> observed.ended("cancelled", null));
            return;
        }
        try {
            observed.acquired();
            runUnder(leases, invocation);
        } catch (Throwable e) {
            // The method has not run, so nothing else would release the leases.
            leases.releaseAsync().whenComplete((nothing, lost) -> end(null, e));
        }
    }

    private void runUnder(MultiLease leases, MethodInvocation invocation) {
        Losses losses = call.watchLosses(leases);
        call.giveLease(invocation, leases);
        CompletionStage<?> work;
        List<Holding> all = Stream.concat(around.stream(), Stream.of(new Holding(call, leases)))
                .toList();
        // Another call inside may call the method later, on another thread.
        List<HeldLeases.Entry> held = call.inner() != null ? List.of() : enter(all);
        try {
            work = stage(call.proceed(invocation, all));
        } catch (Throwable e) {
            work = CompletableFuture.failedFuture(e);
        } finally {
            held.forEach(HeldLeases.Entry::remove);
        }
        passCancelsTo(work);
        work.whenComplete((value, why) -> {
            Throwable failure = unwrapped(why);
            leases.releaseHoldingAtLeastAsync(call.operation().holdAtLeast()).whenComplete((nothing, atRelease) -> {
                if (unwrapped(atRelease) instanceof LeaseLostException lost) {
                    end(value, losses.outcome(failure, lost));
                } else {
                    end(value, failure != null ? failure : atRelease);
                }
            });
        });
    }

    /** Makes the leases those of this thread. The calls release them, when the stage of the method completes. */
    private static List<HeldLeases.Entry> enter(List<Holding> all) {
        return all.stream()
                .map(each -> HeldLeases.add(each.call.client(), each.call.wanted(), each.leases, Duration.ZERO))
                .toList();
    }

    private void notAcquired(Throwable why) {
        Throwable cause = unwrapped(why);
        if (!(cause instanceof LockTimeoutException busy)) {
            try {
                observed.ended(cause instanceof CancellationException ? "cancelled" : "error", cause);
            } finally {
                result.completeExceptionally(java.util.Objects.requireNonNull(cause));
            }
            return;
        }
        try {
            CompletionStage<?> instead = stage(call.alternative(busy, observed));
            passCancelsTo(instead);
            instead.whenComplete((value, failure) -> end(value, unwrapped(failure)));
        } catch (Throwable e) {
            end(null, e);
        }
    }

    private void end(@Nullable Object value, @Nullable Throwable failure) {
        try {
            observed.ended(failure);
        } finally {
            // Even when an observation handler throws: the caller waits for the result.
            if (failure == null) {
                result.complete(value);
            } else {
                result.completeExceptionally(failure);
            }
        }
    }

    private void passCancelsTo(CompletionStage<?> running) {
        try {
            // Written before the result is read, so that either this thread or the cancelling one sees both.
            cancellable.set(running.toCompletableFuture());
            passOnCancel();
        } catch (RuntimeException e) {
            // A stage may refuse the conversion, with any exception. Its work continues and cannot be cancelled.
        }
    }

    private void passOnCancel() {
        CompletableFuture<?> running = cancellable.get();
        if (running != null && result.isCancelled()) {
            running.cancel(true);
        }
    }

    private static CompletionStage<?> stage(@Nullable Object returned) {
        return returned == null ? CompletableFuture.completedFuture(null) : (CompletionStage<?>) returned;
    }

    private static @Nullable Throwable unwrapped(@Nullable Throwable why) {
        return why instanceof CompletionException && why.getCause() != null ? why.getCause() : why;
    }
}
