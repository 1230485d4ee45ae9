package io.holdfast;

import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreHealth;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A store that reports errors only through its stages: a command that throws would leave a waiter without an outcome.
 * The observers hear of each error here.
 *
 * <p>Invariant: every base that it returns makes a fencing token. A grant with any other base is reported as an unknown
 * outcome, so that the engine gives the hold back.
 */
final class GuardedStore implements LockStore {

    private final LockStore store;
    private final Observers observers;

    GuardedStore(LockStore store, Observers observers) {
        this.store = store;
        this.observers = observers;
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return guarded("acquire", request.name(), () -> store.acquire(request), reply -> check(request.name(), reply));
    }

    @Override
    public boolean canAcquireAll(List<String> names) {
        return store.canAcquireAll(names);
    }

    @Override
    public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
        return guarded("acquire", requests.get(0).name(), () -> store.acquireAll(requests), reply -> {
            int granted = reply.granted().size();
            if (reply.isTaken() && granted != requests.size()) {
                throw new StoreException(
                        StoreException.Outcome.UNKNOWN,
                        store.describe() + " answered with " + granted + " grants for " + requests.size()
                                + " names that were asked for together (expected: one for each, or none); this is a"
                                + " defect in the store",
                        null);
            }
            for (int i = 0; i < granted; i++) {
                check(requests.get(i).name(), reply.granted().get(i));
            }
        });
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return guarded("renew", request.name(), () -> store.renew(request), reply -> {});
    }

    @Override
    public void renewAll(List<RenewRequest> requests, RenewAnswers answers) {
        RenewAnswers observed = observers.renewing(requests, answers);
        try {
            store.renewAll(requests, observed);
        } catch (Throwable e) {
            for (int i = 0; i < requests.size(); i++) {
                observed.answered(i, null, e);
            }
        }
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        return guarded("release", request.name(), () -> store.release(request), reply -> {
            AcquireReply requeued = reply.requeued();
            if (requeued != null) {
                check(request.name(), requeued);
            }
        });
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        return guarded("abandon", name, () -> store.abandon(name, holderId), held -> {});
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return guarded("inspect", name, () -> store.inspect(name), state -> {
            if (state.base() != 0) {
                checkBase(name, state.base());
            }
        });
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return guarded("force_release", name, () -> store.forceRelease(name), removed -> {});
    }

    @Override
    public Duration lateness() {
        return store.lateness();
    }

    @Override
    public CompletionStage<StoreHealth> health(String name) {
        return guarded("health", name, () -> store.health(name), health -> {});
    }

    @Override
    public Optional<CardStore> cards() {
        return store.cards();
    }

    @Override
    public void listen(StoreListener listener) {
        store.listen(listener);
    }

    @Override
    public String describe() {
        return store.describe();
    }

    @Override
    public void close() {
        store.close();
    }

    private void check(String name, AcquireReply reply) {
        if (reply instanceof AcquireReply.Granted granted) {
            checkBase(name, granted.base());
        }
    }

    private void checkBase(String name, long base) {
        if (!Hold.isBase(base)) {
            throw new StoreException(
                    StoreException.Outcome.UNKNOWN,
                    store.describe() + " gave the lock " + name + " the base " + base
                            + " of fencing tokens (expected: 1 to " + Hold.BASE_MAX
                            + "; see the clocks of the servers and clients, and who writes the store's keys)",
                    null);
        }
    }

    /** Sends a command, checks its reply, and reports its failure. */
    private <T> CompletionStage<T> guarded(
            String command, String name, Supplier<CompletionStage<T>> call, Consumer<? super T> check) {
        CompletionStage<T> answer;
        try {
            answer = call.get();
        } catch (Throwable e) {
            // Even an Error, such as a missing class or the end of a caller's stack, must not leave a caller waiting
            // for ever.
            answer = CompletableFuture.failedFuture(e);
        }
        // One stage for all, as there is one for each command of the client.
        return answer.handle((reply, error) -> {
            Throwable failure = error;
            if (failure == null) {
                try {
                    check.accept(reply);
                    return reply;
                } catch (RuntimeException e) {
                    failure = e;
                }
            }
            observers.storeFailed(command, name, failure);
            throw failure instanceof CompletionException wrapped ? wrapped : new CompletionException(failure);
        });
    }
}
