package io.holdfast.spring.call;

import io.holdfast.leader.Candidate;
import io.holdfast.leader.LeaderCall;
import io.holdfast.spring.declaration.LeaderOperation;
import io.holdfast.spring.declaration.Returns;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * A call of a method of a leader that returns a {@code Mono} or a {@code Flux}, or of a suspending function. Each
 * subscription is a call of its own: empty if this process does not lead, and otherwise of the present term, whose
 * revocation cancels the publisher of the method. Loaded only where Reactor is present.
 */
final class ReactiveLeaderCall {

    private final LeaderOperation operation;
    private final Candidate candidate;
    private final MethodInvocation invocation;
    private final ContextLeaderships.Inner inner;

    ReactiveLeaderCall(
            LeaderOperation operation,
            Candidate candidate,
            MethodInvocation invocation,
            ContextLeaderships.Inner inner) {
        this.operation = operation;
        this.candidate = candidate;
        this.invocation = invocation;
        this.inner = inner;
    }

    Mono<Object> mono() {
        return Mono.deferContextual(context -> {
            Subscription subscription = new Subscription();
            return subscription.begin()
                    ? Mono.from(subscription.proceed(context))
                            .takeUntilOther(subscription.revoked())
                            .switchIfEmpty(subscription.failureIfRevoked())
                            .doFinally(signal -> subscription.end())
                    : Mono.empty();
        });
    }

    Flux<Object> flux() {
        return Flux.deferContextual(context -> {
            Subscription subscription = new Subscription();
            return subscription.begin()
                    ? Flux.from(subscription.proceed(context))
                            .takeUntilOther(subscription.revoked())
                            .concatWith(subscription.failureIfRevoked())
                            .doFinally(signal -> subscription.end())
                    : Flux.empty();
        });
    }

    private final class Subscription {

        private final LeaderCall call = new LeaderCall(candidate, operation.describe());
        private final CompletableFuture<Boolean> revoked = new CompletableFuture<>();
        private @Nullable HeldInCoroutine coroutine;

        /** Returns whether the method is to be called. */
        boolean begin() {
            call.stopBy(() -> revoked.complete(true));
            return call.begin();
        }

        /** Emits at the revocation. An error would not cancel the publisher of the method. */
        Mono<Boolean> revoked() {
            return Mono.fromFuture(revoked, true);
        }

        Mono<Object> failureIfRevoked() {
            return Mono.defer(() -> revoked.isDone()
                    ? Mono.error(
                            new CancellationException("The leadership \"" + operation.leadership() + "\" was revoked"))
                    : Mono.empty());
        }

        @SuppressWarnings("unchecked")
        Publisher<Object> proceed(ContextView context) {
            try {
                MethodInvocation copy = LockedCall.later(invocation);
                ContextLeaderships.giveTerm(operation, copy, call.term());
                if (operation.returns() == Returns.SUSPENDED) {
                    coroutine = new HeldInCoroutine(ReactiveCall.around(context));
                    coroutine.addTo(copy);
                }
                Object returned = inner.proceed(copy);
                if (returned == null) {
                    throw new IllegalStateException(operation.describe() + " returned null");
                }
                return (Publisher<Object>) returned;
            } catch (Throwable e) {
                // Ends the call by the operators outside.
                return Mono.error(e);
            }
        }

        /** A cancelled coroutine may still work: the call ends with it. */
        void end() {
            if (coroutine == null) {
                call.end();
            } else {
                var unused = coroutine.end().thenRun(() -> call.end());
            }
        }
    }
}
