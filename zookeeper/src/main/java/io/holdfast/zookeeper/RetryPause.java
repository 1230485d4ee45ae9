package io.holdfast.zookeeper;

import io.holdfast.spi.TimeSource;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Pauses a contender until more can be promised. All pauses together may take a quarter of a session. A withdrawal
 * waits behind them in the {@link SerialQueue}, so it ends them.
 */
final class RetryPause {

    private final TimeSource time;
    private volatile boolean ended;
    private volatile @Nullable CompletableFuture<Boolean> present;

    RetryPause(TimeSource time) {
        this.time = time;
    }

    /** Continues after that time, or at once when the pauses are ended. */
    <T> CompletableFuture<T> then(long nanos, Supplier<CompletableFuture<T>> next) {
        CompletableFuture<Boolean> over = new CompletableFuture<>();
        present = over;
        TimeSource.Timer timer = time.schedule(nanos, () -> over.complete(true));
        if (ended) {
            over.complete(true);
        }
        return over.thenCompose(then -> {
            timer.cancel();
            return next.get();
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

    boolean isEnded() {
        return ended;
    }
}
