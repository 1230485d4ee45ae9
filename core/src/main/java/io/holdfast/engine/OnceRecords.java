package io.holdfast.engine;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockStoreException;
import io.holdfast.log.Quoted;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.RecordStore;
import io.holdfast.spi.StageWait;
import io.holdfast.spi.StoreException;
import io.holdfast.store.StoreErrors;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The records of work that is done once, at the store of an engine. A command that fails is sent again for as long as
 * waiters tolerate a failing store, and while the lease is valid: after the work, a short outage must not lose its
 * record. Stages complete on any thread; the {@code …Async} methods of a stage use the client's callback executor.
 */
public final class OnceRecords {

    private static final long RETRY_NANOS = 100_000_000;

    private final Engine engine;

    public OnceRecords(Engine engine) {
        this.engine = engine;
    }

    /**
     * Checks that the store keeps records.
     *
     * @throws LockStoreException if it keeps none, or is not open yet
     */
    public void require() {
        engine.ensureOpen();
        try {
            records();
        } catch (StoreException e) {
            throw StoreErrors.toUser(e, engine.store.describe());
        }
    }

    /**
     * Returns the record of the name of a lease. Fails with {@link LockStoreException} or {@link LeaseLostException}.
     *
     * @throws IllegalArgumentException if the lease is not one of a lock of this client
     */
    public CompletionStage<Optional<String>> find(Lease lease) {
        ActiveLease own = own(lease);
        return sent(own, records -> records.find(own.name()));
    }

    /**
     * Writes the record of the name of a lease while the lease is held. Fails with {@link LeaseLostException} if it is
     * not, and with {@link LockStoreException}.
     *
     * @throws IllegalArgumentException if the lease is not one of a lock of this client
     */
    public CompletionStage<Boolean> keep(Lease lease, String text, Duration keepFor) {
        ActiveLease own = own(lease);
        return sent(own, records -> records.keep(own.name(), own.holderId(), text, keepFor))
                .thenApply(kept -> {
                    if (!kept) {
                        throw own.lostException(
                                "when the result of its work was to be stored, the store no longer knew it, so the"
                                        + " work may be done again");
                    }
                    return true;
                });
    }

    private ActiveLease own(Lease lease) {
        ActiveLease own = ActiveLease.behind(lease);
        if (own == null
                || !own.hold.engine.storedName().equals(own.name())
                || !HolderId.client(own.holderId()).equals(engine.settings.clientId)) {
            throw new IllegalArgumentException("The lease on " + Quoted.name(lease.name())
                    + " is not a lock of this client (expected: a lease of acquire of the same LockClient)");
        }
        return own;
    }

    private RecordStore records() {
        return engine.store
                .records()
                .orElseThrow(() -> new StoreException(
                        StoreException.Outcome.FATAL,
                        engine.store.describe()
                                + " keeps no results of work that is done once (expected: Redis in mode lua, or memory;"
                                + " with a database, JdbcOnce, which commits the result together with the work)",
                        null));
    }

    /** Waits for a stage, even when interrupted: the work is done, and the time for its command is bounded. */
    public static <T> T await(CompletionStage<T> stage) {
        try {
            return StageWait.join(stage);
        } catch (CompletionException e) {
            if (e.getCause() instanceof LockStoreException failure) {
                throw Waiter.rethrown(failure);
            }
            throw e.getCause() instanceof RuntimeException failure ? failure : e;
        }
    }

    private <T> CompletionStage<T> sent(ActiveLease lease, Function<RecordStore, CompletionStage<T>> command) {
        CompletableFuture<T> outcome = new CallbackStage<>(engine.callbacks);
        long endNanos = engine.settings.time.nanoTime() + engine.settings.patience.nanos();
        send(lease, () -> command.apply(records()), endNanos, outcome);
        return outcome;
    }

    private <T> void send(
            ActiveLease lease, Supplier<CompletionStage<T>> command, long endNanos, CompletableFuture<T> outcome) {
        if (!lease.isValid()) {
            outcome.completeExceptionally(lease.lostException());
            return;
        }
        StoreErrors.sent(command).whenComplete((reply, error) -> {
            if (error == null) {
                outcome.complete(reply);
                return;
            }
            StoreException failure = StoreErrors.of(error);
            if (failure.outcome() == StoreException.Outcome.FATAL
                    || engine.settings.time.nanoTime() + RETRY_NANOS - endNanos >= 0) {
                outcome.completeExceptionally(StoreErrors.toUser(failure, engine.store.describe()));
            } else {
                engine.settings.time.schedule(RETRY_NANOS, () -> send(lease, command, endNanos, outcome));
            }
        });
    }
}
