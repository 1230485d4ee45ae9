package io.holdfast.zookeeper;

import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Pauses a contender until more can be promised. All pauses together may take a quarter of a session. A withdrawal
 * waits behind them in the {@link SerialQueue}, so it ends them.
 */
final class RetryPause {

    private final StoreAccess store;
    private final String holderId;
    private volatile boolean ended;
    private volatile @Nullable CompletableFuture<Boolean> present;

    RetryPause(StoreAccess store, String holderId) {
        this.store = store;
        this.holderId = holderId;
    }

    /** Continues after that time, or fails as soon as the pauses are ended. */
    <T> CompletableFuture<T> then(long nanos, Supplier<CompletableFuture<T>> next) {
        CompletableFuture<Boolean> over = new CompletableFuture<>();
        present = over;
        TimeSource.Timer timer = store.time().schedule(nanos, () -> over.complete(true));
        if (ended) {
            over.complete(true);
        }
        return over.thenCompose(then -> {
            timer.cancel();
            return unlessEnded(next);
        });
    }

    /** Ends the present pause, and all that follow. May be called on any thread. */
    void end() {
        ended = true;
        CompletableFuture<Boolean> over = present;
        if (over != null) {
            over.complete(true);
        }
    }

    /** Continues, or fails if the pauses are ended: the id was withdrawn. */
    <T> CompletableFuture<T> unlessEnded(Supplier<CompletableFuture<T>> next) {
        return ended
                ? CompletableFuture.failedFuture(new StoreException(
                        StoreException.Outcome.UNKNOWN,
                        store.describe() + ": " + holderId + " was withdrawn in the meantime",
                        null))
                : next.get();
    }
}
