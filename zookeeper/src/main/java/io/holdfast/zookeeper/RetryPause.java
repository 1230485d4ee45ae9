package io.holdfast.zookeeper;

import io.holdfast.spi.TimeSource;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits of a contender in its turn, until more can be promised. They may take a quarter of a session together, and a withdrawal has its
 * turn after them; so it ends them.
 */
final class RetryPause {

    private final TimeSource time;
    private volatile boolean ended;
    private volatile @Nullable CompletableFuture<Boolean> present;

    RetryPause(TimeSource time) {
        this.time = time;
    }

    /** Goes on after that time, or at once when it is ended. Called in turn. */
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

    /** For good. On any thread. */
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
