package io.holdfast;

import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.Finding;
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
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * A store that reports errors only through its stages: a command that throws would leave a waiter without an outcome.
 *
 * <p>Invariant: every base that it returns makes a fencing token. A grant with any other base is reported as an unknown
 * outcome, so that the engine gives the hold back.
 */
final class GuardedStore implements LockStore {

    private final LockStore store;

    GuardedStore(LockStore store) {
        this.store = store;
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return guarded(() -> store.acquire(request).thenApply(reply -> checked(request.name(), reply)));
    }

    @Override
    public boolean canAcquireAll(List<String> names) {
        return store.canAcquireAll(names);
    }

    @Override
    public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
        return guarded(() -> store.acquireAll(requests).thenApply(reply -> {
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
                checked(requests.get(i).name(), reply.granted().get(i));
            }
            return reply;
        }));
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return guarded(() -> store.renew(request));
    }

    @Override
    public void renewAll(List<RenewRequest> requests, RenewAnswers answers) {
        try {
            store.renewAll(requests, answers);
        } catch (Throwable e) {
            for (int i = 0; i < requests.size(); i++) {
                answers.answered(i, null, e);
            }
        }
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        return guarded(() -> store.release(request).thenApply(reply -> {
            AcquireReply requeued = reply.requeued();
            if (requeued != null) {
                checked(request.name(), requeued);
            }
            return reply;
        }));
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        return guarded(() -> store.abandon(name, holderId));
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return guarded(() -> store.inspect(name).thenApply(state -> {
            if (state.base() != 0) {
                checkBase(name, state.base());
            }
            return state;
        }));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return guarded(() -> store.forceRelease(name));
    }

    @Override
    public Duration lateness() {
        return store.lateness();
    }

    @Override
    public CompletionStage<StoreHealth> health(String name) {
        return guarded(() -> store.health(name));
    }

    @Override
    public Optional<CardStore> cards() {
        return store.cards();
    }

    @Override
    public CompletionStage<List<Finding>> diagnose(String name) {
        return guarded(() -> store.diagnose(name));
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

    private AcquireReply checked(String name, AcquireReply reply) {
        if (reply instanceof AcquireReply.Granted granted) {
            checkBase(name, granted.base());
        }
        return reply;
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

    private static <T> CompletionStage<T> guarded(Supplier<CompletionStage<T>> command) {
        try {
            return command.get();
        } catch (Throwable e) {
            // Even an Error, such as a missing class or the end of a caller's stack, must not leave a caller waiting
            // for ever.
            return CompletableFuture.failedFuture(e);
        }
    }
}
