package io.holdfast.spring.call;

import io.holdfast.LeaseLostException;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import java.util.concurrent.CompletableFuture;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;

/**
 * A call of a method that returns a {@code Mono} or a {@code Flux}. Each subscription acquires the lock, calls the
 * method, and releases when the publisher completes, fails or is cancelled. No thread waits. Loaded only where Reactor
 * is present.
 */
final class ReactiveCall {

    /** A busy lock, as distinct from a timeout inside the method. */
    private static final class Busy extends RuntimeException {

        private static final long serialVersionUID = 1;

        private final LockTimeoutException timeout;

        Busy(LockTimeoutException timeout) {
            super(null, timeout, false, false);
            this.timeout = timeout;
        }
    }

    private final LockedCall call;

    ReactiveCall(LockedCall call) {
        this.call = call;
    }

    Mono<Object> mono() {
        return Mono.defer(() -> {
            Subscription subscription = new Subscription();
            return Mono.usingWhen(
                            Mono.defer(subscription::acquire),
                            leases -> Mono.from(subscription.proceed(leases)),
                            leases -> subscription.release(leases, null),
                            subscription::release,
                            leases -> subscription.release(leases, null))
                    .onErrorMap(subscription::asThrown)
                    .onErrorResume(Busy.class, busy -> Mono.from(subscription.instead(busy)))
                    .doOnError(subscription::failed)
                    .doFinally(subscription::end);
        });
    }

    Flux<Object> flux() {
        return Flux.defer(() -> {
            Subscription subscription = new Subscription();
            return Flux.usingWhen(
                            Mono.defer(subscription::acquire),
                            subscription::proceed,
                            leases -> subscription.release(leases, null),
                            subscription::release,
                            leases -> subscription.release(leases, null))
                    .onErrorMap(subscription::asThrown)
                    .onErrorResume(Busy.class, subscription::instead)
                    .doOnError(subscription::failed)
                    .doFinally(subscription::end);
        });
    }

    @SuppressWarnings("unchecked")
    private static Publisher<Object> objects(Object publisher) {
        return (Publisher<Object>) publisher;
    }

    /** One acquisition and its consequences: a publisher may have many subscriptions, or none. */
    private final class Subscription {

        private final ObservedCall observed = call.begin();
        private @Nullable CompletableFuture<MultiLease> acquiring;
        private @Nullable Losses losses;
        private @Nullable Throwable lost;
        private @Nullable Throwable failure;

        Mono<MultiLease> acquire() {
            CompletableFuture<MultiLease> future = call.client()
                    .acquireAllAsync(call.names(), call.operation().options())
                    .toCompletableFuture();
            acquiring = future;
            return Mono.fromFuture(future).onErrorMap(LockTimeoutException.class, Busy::new);
        }

        Publisher<Object> proceed(MultiLease leases) {
            observed.acquired();
            losses = call.watchLosses(leases);
            MethodInvocation invocation = call.later();
            call.giveLease(invocation, leases);
            HeldLeases.Entry held = HeldLeases.add(call.client(), leases);
            try {
                Object returned = invocation.proceed();
                if (returned == null) {
                    throw new IllegalStateException(call.operation().describe() + " returned null");
                }
                return objects(returned);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw reactor.core.Exceptions.propagate(e);
            } finally {
                held.remove();
            }
        }

        @SuppressWarnings("ReferenceEquality") // this very failure
        Publisher<Void> release(MultiLease leases, @Nullable Throwable failure) {
            return Mono.fromFuture(() ->
                            leases.releaseAsync(call.operation().holdAtLeast()).toCompletableFuture())
                    .onErrorResume(LeaseLostException.class, loss -> {
                        Losses known = losses;
                        Throwable outcome = known == null ? loss : known.outcome(failure, loss);
                        if (outcome == null || outcome == failure) {
                            return Mono.empty();
                        }
                        lost = outcome;
                        return Mono.error(outcome);
                    });
        }

        /** Returns the loss that Reactor has wrapped because it came from the release; or the error itself. */
        @SuppressWarnings("ReferenceEquality") // this very failure
        Throwable asThrown(Throwable error) {
            Throwable loss = lost;
            return loss != null && error.getCause() == loss ? loss : error;
        }

        Publisher<Object> instead(Busy busy) {
            try {
                Object instead = call.alternative(busy.timeout, observed);
                return instead == null ? Mono.empty() : objects(instead);
            } catch (Throwable e) {
                return Mono.error(e);
            }
        }

        void failed(Throwable error) {
            failure = error;
        }

        /**
         * Releases even after a cancel that came between the grant and its arrival here: nothing else would release
         * that lease.
         */
        void end(SignalType signal) {
            CompletableFuture<MultiLease> future = acquiring;
            if (future != null) {
                var unused = future.thenAccept(
                        leases -> leases.releaseAsync(call.operation().holdAtLeast()));
            }
            observed.ended(outcome(signal), failure);
        }

        private String outcome(SignalType signal) {
            if (lost != null || failure instanceof LeaseLostException) {
                return "lost";
            }
            if (failure != null) {
                return losses == null ? "error" : "failed";
            }
            return signal == SignalType.CANCEL ? "cancelled" : "completed";
        }
    }
}
