package io.holdfast.redis.connect;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection once, however many close it. A store closes a connection that is of no more use. The driver then
 * closes all whose close is not complete, and those to the nodes of a cluster twice. For a second close, the driver
 * would log a warning, although nothing is wrong.
 */
final class CloseOnce {

    /** The outcome of the close; null until one has begun. */
    private final AtomicReference<@Nullable CompletableFuture<Void>> outcome = new AtomicReference<>();

    /** Begins the close if none has begun, and returns the outcome of the one that has. */
    CompletableFuture<Void> begin(Supplier<CompletableFuture<Void>> close) {
        CompletableFuture<Void> mine = new CompletableFuture<>();
        if (!outcome.compareAndSet(null, mine)) {
            return Objects.requireNonNull(outcome.get());
        }
        StageGuard.<Void>begin(close::get).whenComplete((done, error) -> StageGuard.complete(mine, null, error));
        return mine;
    }
}
