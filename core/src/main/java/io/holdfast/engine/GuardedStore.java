package io.holdfast.engine;

import io.holdfast.log.Quoted;
import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.Finding;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RecordStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreHealth;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import io.holdfast.store.StoreErrors;
import io.holdfast.store.StoreOpening;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store that reports errors only through its stages: a command that throws would leave a waiter without an outcome.
 * The observers receive each error here. A command that comes before the store is open fails, and was not executed.
 *
 * <p>Invariant: every base that it returns makes a fencing token. A grant with any other base is reported as an unknown
 * outcome, so that the engine gives the hold back.
 */
class GuardedStore implements LockStore {

    private final StoreOpening store;
    private final LockEvents events;

    GuardedStore(StoreOpening store, LockEvents events) {
        this.store = store;
        this.events = events;
    }

    /**
     * Returns the store that receives the commands.
     *
     * @throws StoreException if it is not open
     */
    LockStore get() {
        return store.get();
    }

    /**
     * Returns the store that receives the commands behind any store of an engine.
     *
     * @throws StoreException if it is not open
     */
    static LockStore opened(LockStore store) {
        return store instanceof GuardedStore guarded ? guarded.get() : store;
    }

    /** Returns a name as observers see it. */
    String shown(String name) {
        return name;
    }

    /** Returns that store if it is open, and starts no attempt to open it. */
    @Nullable
    LockStore ifOpen() {
        return store.ifOpen();
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        String name = request.name();
        return observed("acquire", name, () -> get().acquire(request), reply -> check("acquire", name, reply));
    }

    @Override
    public boolean canAcquireAll(List<String> names) {
        return ifOpen(open -> open.canAcquireAll(names), false);
    }

    @Override
    public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
        String first = requests.get(0).name();
        return observed("acquire", first, () -> get().acquireAll(requests), reply -> checkAll(requests, reply));
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return observed("renew", request.name(), () -> get().renew(request));
    }

    @Override
    public void renewAll(List<RenewRequest> requests, RenewAnswers answers) {
        RenewAnswers observed = events.renewing(requests, this::shown, answers);
        try {
            get().renewAll(requests, observed);
        } catch (Throwable e) {
            for (int i = 0; i < requests.size(); i++) {
                observed.answered(i, null, e);
            }
        }
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        String name = request.name();
        return observed(
                "release", name, () -> get().release(request), reply -> check("release", name, reply.requeued()));
    }

    /** Before the store is open there is nothing to withdraw, by the invariant of {@link StoreOpening}. */
    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        CompletionStage<Boolean> nothing = CompletableFuture.completedFuture(false);
        return observed("abandon", name, () -> ifOpen(open -> open.abandon(name, holderId), nothing));
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return observed("inspect", name, () -> get().inspect(name), state -> {
            if (state.base() != 0) {
                checkBase("inspect", name, state.base());
            }
        });
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return observed("force_release", name, () -> get().forceRelease(name, holder));
    }

    @Override
    public Duration lateness() {
        return ifOpen(LockStore::lateness, LockStore.super.lateness());
    }

    @Override
    public Duration recovery() {
        return ifOpen(LockStore::recovery, LockStore.super.recovery());
    }

    @Override
    public CompletionStage<StoreHealth> health(String name) {
        return observed("health", name, () -> get().health(name));
    }

    /** @throws StoreException if the store is not open yet */
    @Override
    public Optional<CardStore> cards() {
        return get().cards();
    }

    /** Returns the records of the store, with errors that are reported as those of its other commands. */
    @Override
    public Optional<RecordStore> records() {
        return get().records().map(Records::new);
    }

    @Override
    public CompletionStage<List<Finding>> diagnose(String name) {
        return observed("diagnose", name, () -> get().diagnose(name));
    }

    @Override
    public void listen(StoreListener listener) {
        store.listen(listener);
    }

    @Override
    public String describe() {
        return ifOpen(LockStore::describe, "a store that could not be opened yet");
    }

    @Override
    public void leave(String name, String holderId, BooleanSupplier inUse) {
        LockStore open = ifOpen();
        if (open != null) {
            open.leave(name, holderId, inUse);
        }
    }

    @Override
    public void close() {
        store.close();
    }

    private <T> T ifOpen(Function<LockStore, T> question, T otherwise) {
        LockStore open = ifOpen();
        return open != null ? question.apply(open) : otherwise;
    }

    private void checkAll(List<AcquireRequest> requests, AcquireAllReply reply) {
        int granted = reply.granted().size();
        String first = requests.get(0).name();
        if (reply.isTaken() && granted != requests.size()) {
            throw defect(
                    "acquire",
                    first,
                    describe() + " answered with " + granted + " grants for " + requests.size()
                            + " names that were asked for together (expected: one for each, or none); this is a"
                            + " defect in the store");
        }
        for (int i = 0; i < granted; i++) {
            check("acquire", requests.get(i).name(), reply.granted().get(i));
        }
    }

    private void check(String command, String name, @Nullable AcquireReply reply) {
        if (reply instanceof AcquireReply.Granted granted) {
            checkBase(command, name, granted.base());
        }
    }

    private void checkBase(String command, String name, long base) {
        if (!Hold.isBase(base)) {
            throw defect(
                    command,
                    name,
                    describe() + " gave the lock " + Quoted.name(name) + " the base " + base
                            + " of fencing tokens (expected: 1 to " + Hold.BASE_MAX
                            + "; see the clocks of the servers and clients, and who writes the store's keys)");
        }
    }

    private StoreException defect(String command, String name, String message) {
        StoreException failure = new StoreException(StoreException.Outcome.UNKNOWN, message, null);
        events.storeFailed(command, shown(name), failure);
        return failure;
    }

    private <T> CompletionStage<T> observed(String command, String name, Supplier<CompletionStage<T>> call) {
        return observed(command, name, call, reply -> {});
    }

    /** Sends a command, and reports its failure. The check throws if the reply must not be used. */
    private <T> CompletionStage<T> observed(
            String command, String name, Supplier<CompletionStage<T>> call, Consumer<T> check) {
        return StoreErrors.sent(call).handle((reply, error) -> {
            if (error != null) {
                events.storeFailed(command, shown(name), error);
                throw error instanceof CompletionException wrapped ? wrapped : new CompletionException(error);
            }
            check.accept(reply);
            return reply;
        });
    }

    private final class Records implements RecordStore {

        private final RecordStore records;

        Records(RecordStore records) {
            this.records = records;
        }

        @Override
        public CompletionStage<Optional<String>> find(String name) {
            return observed("find_record", name, () -> records.find(name));
        }

        @Override
        public CompletionStage<Boolean> keep(String name, String holderId, String text, Duration keepFor) {
            return observed("keep_record", name, () -> records.keep(name, holderId, text, keepFor));
        }
    }
}
