package io.holdfast.spring.call;

import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import io.holdfast.spring.declaration.LockedOperation;
import io.holdfast.spring.declaration.Returns;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * A call of a method that returns a {@code Mono} or a {@code Flux}, or of a suspending function. Each subscription
 * acquires the lock, calls the method, and releases when the publisher completes, fails or is cancelled. No thread
 * waits. Reactor's context has the leases for nested calls. Loaded only where Reactor is present.
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

    /** Of a {@code List<HeldLeases.Entry>} in Reactor's context. Spring hands that on to coroutines, and back. */
    private static final Object KEY = HeldLeases.class;

    private final LockedCall call;

    ReactiveCall(LockedCall call) {
        this.call = call;
    }

    /** Returns the leases of the calls under which the subscriber of this context runs. */
    static List<HeldLeases.Entry> around(ContextView context) {
        return context.hasKey(KEY) ? context.get(KEY) : List.of();
    }

    Mono<Object> mono() {
        return Mono.deferContextual(context -> {
            Subscription subscription = new Subscription(context);
            return Mono.usingWhen(
                            Mono.defer(subscription::acquire),
                            leases -> Mono.from(subscription.proceed()),
                            leases -> subscription.release(null),
                            (leases, failure) -> subscription.release(failure),
                            leases -> subscription.release(null))
                    .onErrorMap(subscription::asThrown)
                    .onErrorResume(Busy.class, busy -> Mono.from(subscription.instead(busy)))
                    .doOnError(subscription::failed)
                    .doFinally(subscription::end);
        });
    }

    Flux<Object> flux() {
        return Flux.deferContextual(context -> {
            Subscription subscription = new Subscription(context);
            return Flux.usingWhen(
                            Mono.defer(subscription::acquire),
                            leases -> subscription.proceed(),
                            leases -> subscription.release(null),
                            (leases, failure) -> subscription.release(failure),
                            leases -> subscription.release(null))
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

        private final ContextView subscriber;

        /** The leases of the enclosing calls, under which the subscriber runs. */
        private final List<HeldLeases.Entry> around;

        /** The leases of the enclosing calls that this call uses. It must leave them, once. */
        private final List<HeldLeases.Entered> entered = new ArrayList<>();

        /** Set by whichever leaves the entries: the run of the method, or the end of a wait without one. */
        private final AtomicBoolean isLeaving = new AtomicBoolean();

        private @Nullable CompletableFuture<MultiLease> acquiring;
        private HeldLeases.@Nullable Entry own;
        private @Nullable HeldInCoroutine coroutine;
        private @Nullable Losses losses;
        private @Nullable Throwable lost;
        private @Nullable Throwable failure;
        private boolean hasBegun;
        private boolean hasRun;

        Subscription(ContextView context) {
            subscriber = context;
            around = around(context);
        }

        /** Emits once, when the names that no call around has locked are locked. */
        Mono<Boolean> acquire() {
            List<String> missing = new ArrayList<>();
            for (String name : call.names()) {
                HeldLeases.Entered held = HeldLeases.enter(around, call.client(), call.wanted(), name);
                if (held == null) {
                    missing.add(name);
                } else {
                    entered.add(held);
                    // A nested call must not begin under a lost lease.
                    held.lease().ensureValid();
                }
            }
            if (missing.isEmpty()) {
                return Mono.just(true);
            }
            CompletableFuture<MultiLease> future = call.wanted()
                    .acquireAsync(call.client(), missing, call.operation().options());
            acquiring = future;
            return Mono.fromFuture(future).thenReturn(true).onErrorMap(LockTimeoutException.class, Busy::new);
        }

        Publisher<Object> proceed() {
            if (!isLeaving.compareAndSet(false, true)) {
                throw new CancellationException("cancelled when the lock was granted");
            }
            hasBegun = true;
            MultiLease leases = acquiring == null ? null : acquiring.join();
            if (leases != null) {
                own = HeldLeases.detached(call.client(), call.wanted(), leases, call.holdAtLeast());
                losses = call.watchLosses(leases);
            }
            // The wait may have been long.
            entered.forEach(held -> held.lease().ensureValid());
            observed.acquired();
            if (!call.operation().kind().isOnce()) {
                return proceedUnder(leases);
            }
            if (!requireNonNull(call.operation().once()).isInStore()) {
                return inTransaction(leases);
            }
            Lease lease =
                    leases == null ? entered.get(0).lease() : leases.leases().get(0);
            return once(call.once().inStore(call.operation()).begin(call, lease, subscriber), leases);
        }

        /**
         * Does the work once on a thread that may wait, in a transaction of that thread. A publisher that goes on
         * elsewhere fails.
         */
        private Mono<Object> inTransaction(@Nullable MultiLease leases) {
            return Mono.deferContextual(context -> Mono.defer(() -> {
                        try {
                            return Mono.justOrEmpty(inTransaction(leases, context));
                        } catch (Throwable e) {
                            return Mono.error(e);
                        }
                    })
                    .subscribeOn(Schedulers.boundedElastic()));
        }

        private @Nullable Object inTransaction(@Nullable MultiLease leases, ContextView context) throws Throwable {
            LockedOperation operation = call.operation();
            String key = call.names().iterator().next();
            // For the check before the commit.
            List<HeldLeases.Entry> before = HeldLeases.replace(held());
            try {
                return call.once()
                        .work(operation)
                        .run(
                                key,
                                call,
                                call.context(),
                                () -> TransactedWork.result(proceedUnder(leases), context, operation.place()));
            } finally {
                HeldLeases.restore(before);
            }
        }

        /** Does the work unless it was done before. A cancelled subscriber leaves no attempt. */
        private Mono<Object> once(OnceInStore.Attempt attempt, @Nullable MultiLease leases) {
            return mono(attempt::find)
                    .flatMap(done -> done.isPresent()
                            ? Mono.justOrEmpty(attempt.repeated(done.get()))
                            : Mono.from(proceedUnder(leases))
                                    .map(Optional::of)
                                    .defaultIfEmpty(Optional.empty())
                                    .flatMap(result -> mono(() -> attempt.keep(result.orElse(null)))
                                            .then(Mono.justOrEmpty(result))))
                    .onErrorMap(attempt::failed)
                    // Before the subscriber learns of the end: it may call again under the same lease.
                    .doOnTerminate(attempt::close)
                    .doOnCancel(attempt::close);
        }

        /** What follows runs on the client's callback executor, not on a thread of the store. */
        private static <T> Mono<T> mono(Supplier<CompletionStage<T>> command) {
            return Mono.fromFuture(
                    () -> command.get().thenApplyAsync(Function.identity()).toCompletableFuture(), true);
        }

        private Publisher<Object> proceedUnder(@Nullable MultiLease leases) {
            LockedCall run = call.copy();
            if (!entered.isEmpty()) {
                run.giveHeld(entered.stream().map(HeldLeases.Entered::lease).toList());
            }
            if (leases != null) {
                run.giveAcquired(leases, entered.isEmpty());
            }
            hasRun = true;
            return proceed(run, held());
        }

        private List<HeldLeases.Entry> held() {
            return own == null
                    ? around
                    : Stream.concat(Stream.of(own), around.stream()).toList();
        }

        private Publisher<Object> proceed(LockedCall run, List<HeldLeases.Entry> all) {
            boolean suspends = call.operation().returns() == Returns.SUSPENDED;
            if (suspends) {
                coroutine = new HeldInCoroutine(all);
                coroutine.addTo(run.invocation());
            }
            Object returned;
            List<HeldLeases.Entry> before = HeldLeases.replace(all);
            try {
                returned = run.proceed();
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw reactor.core.Exceptions.propagate(e);
            } finally {
                HeldLeases.restore(before);
            }
            if (returned == null) {
                throw new IllegalStateException(call.operation().describe() + " returned null");
            }
            Function<Context, Context> inner = context -> context.put(KEY, all);
            return call.operation().returns() == Returns.FLUX
                    ? Flux.from(objects(returned)).contextWrite(inner)
                    : Mono.from(objects(returned)).contextWrite(inner);
        }

        /** Completes when this call uses no lease any more, after the release of those that nobody else uses. */
        @SuppressWarnings("ReferenceEquality") // this very failure
        Publisher<Void> release(@Nullable Throwable failure) {
            Mono<Void> left = Mono.defer(this::leave);
            // A cancelled coroutine may still work.
            Mono<Void> released = coroutine == null
                    ? left
                    : Mono.fromCompletionStage(coroutine.end()).then(left);
            return released.onErrorResume(LeaseLostException.class, loss -> {
                Throwable outcome = outcome(failure, loss);
                if (outcome == null || outcome == failure) {
                    return Mono.empty();
                }
                lost = outcome;
                return Mono.error(outcome);
            });
        }

        private @Nullable Throwable outcome(@Nullable Throwable failure, LeaseLostException loss) {
            Losses known = losses;
            if (known == null) {
                // Only leases of calls around this one, which have ended sooner.
                known = call.watchLosses(entered.get(0).entry().leases());
            }
            return known.outcome(failure, loss);
        }

        private Mono<Void> leave() {
            if (!hasBegun) {
                // The end of the wait leaves.
                return Mono.empty();
            }
            List<Mono<Void>> releases = new ArrayList<>();
            HeldLeases.Entry held = own;
            if (held != null) {
                CompletionStage<Void> release = held.leaveAsync();
                releases.add(release == null ? Mono.fromRunnable(held.leases()::ensureValid) : mono(release));
            }
            for (HeldLeases.Entered each : entered) {
                CompletionStage<Void> release = each.entry().leaveAsync();
                if (release != null) {
                    releases.add(mono(release));
                }
            }
            return Mono.whenDelayError(releases);
        }

        private static Mono<Void> mono(CompletionStage<Void> release) {
            return Mono.fromFuture(release.toCompletableFuture(), true);
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
                // Only the fallback or handler of a suspending function returns something else than a publisher.
                return instead instanceof Publisher<?> ? objects(instead) : Mono.justOrEmpty(instead);
            } catch (Throwable e) {
                return Mono.error(e);
            }
        }

        void failed(Throwable error) {
            failure = error;
        }

        /**
         * Leaves even after a cancel that came between the grant and its arrival here: nothing else would release that
         * lease.
         */
        void end(SignalType signal) {
            if (isLeaving.compareAndSet(false, true)) {
                entered.forEach(each -> each.entry().leaveAsync());
                CompletableFuture<MultiLease> future = acquiring;
                if (future != null) {
                    var unused = future.thenAccept(leases -> leases.releaseHoldingAtLeastAsync(call.holdAtLeast()));
                }
            }
            observed.ended(outcome(signal), failure);
        }

        private String outcome(SignalType signal) {
            if (lost != null || failure instanceof LeaseLostException) {
                return "lost";
            }
            if (failure != null) {
                return hasRun ? "failed" : "error";
            }
            return signal == SignalType.CANCEL ? "cancelled" : "completed";
        }
    }
}
