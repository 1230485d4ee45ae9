package io.holdfast;

import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Somebody who wants a lease: a thread that waits for {@link #result}, or a stage chained to it.
 *
 * <p>Possible state transitions, each made once, under the lock of the name's engine:
 *
 * <pre>
 *   PENDING → GRANTED
 *   PENDING → TIMED_OUT | WITHDRAWN (interrupted or cancelled) | FAILED
 * </pre>
 *
 * <p>{@code result} is completed after that lock is released, by whoever made the transition.
 */
final class Waiter {

    enum State {
        PENDING,
        GRANTED,
        TIMED_OUT,
        WITHDRAWN,
        FAILED
    }

    static final long NO_DEADLINE = Long.MAX_VALUE;

    final LockOptions options;
    final WaitMode mode;
    final @Nullable Thread owner;
    final long arrivedNanos;

    /** How long it may wait; {@link #NO_DEADLINE} without limit; zero means one attempt. */
    final long waitNanos;

    final CompletableFuture<Lease> result = new CompletableFuture<>();

    State state = State.PENDING; // by the engine's lock
    TimeSource.@Nullable Timer timer; // by the engine's lock

    /** The engine it was submitted to; written before the waiter is handed to its caller. */
    private @Nullable NameEngine engine;

    Waiter(LockOptions options, WaitMode mode, @Nullable Thread owner, long arrivedNanos) {
        this.options = options;
        this.mode = mode;
        this.owner = owner;
        this.arrivedNanos = arrivedNanos;
        this.waitNanos = options.waitAtMost().map(Duration::toNanos).orElse(mode == WaitMode.TRY ? 0 : NO_DEADLINE);
    }

    void submittedTo(NameEngine engine) {
        this.engine = engine;
    }

    boolean makesOneAttempt() {
        return waitNanos == 0;
    }

    /** The length of its own that this waiter's lease has at the store, or zero if it is renewed without limit. */
    long boundNanos() {
        return options.leaseFor().or(options::holdAtMost).map(Duration::toNanos).orElse(0L);
    }

    // --- the blocking edge: the only place where a caller's thread waits for a lock ---

    /** As {@link java.util.concurrent.locks.Lock} asks: an interrupt before the wait counts like one during it. */
    static void ensureNotInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    Lease await() throws InterruptedException {
        try {
            return result.get();
        } catch (ExecutionException e) {
            throw unwrapped(e.getCause());
        } catch (InterruptedException e) {
            if (engine().leave(this, State.WITHDRAWN)) {
                throw e;
            }
            // Another outcome came first, and there is only one. The caller learns of the interrupt by the flag.
            Thread.currentThread().interrupt();
            return join();
        }
    }

    Optional<Lease> awaitOptional() throws InterruptedException {
        try {
            return Optional.of(await());
        } catch (LockTimeoutException e) {
            return Optional.empty();
        }
    }

    Optional<Lease> awaitUninterruptibly() {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return Optional.of(result.get());
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    if (e.getCause() instanceof LockTimeoutException) {
                        return Optional.empty();
                    }
                    throw unwrapped(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // --- the asynchronous edge ---

    CompletionStage<Lease> stage() {
        return deliver(lease -> lease, CompletableFuture::completeExceptionally);
    }

    CompletionStage<Optional<Lease>> optionalStage() {
        return deliver(Optional::of, (stage, error) -> {
            if (error instanceof LockTimeoutException) {
                stage.complete(Optional.empty());
            } else {
                stage.completeExceptionally(error);
            }
        });
    }

    private <T> CompletableFuture<T> deliver(
            Function<Lease, T> value, BiConsumer<CompletableFuture<T>, Throwable> otherwise) {
        CompletableFuture<T> stage = new CompletableFuture<>();
        CompletionStage<T> watched = stage;
        watched.whenComplete((v, e) -> {
            if (e instanceof CancellationException) {
                engine().leave(this, State.WITHDRAWN);
            }
        });
        // Dependents of the stage are the user's code: never on the store's thread.
        CompletionStage<Lease> outcome = result;
        outcome.whenComplete((lease, error) -> engine().callbacks().execute(() -> {
            if (error != null) {
                otherwise.accept(stage, error);
            } else if (!stage.complete(value.apply(lease))) {
                // Cancelled in the last moment: nobody else will ever release it.
                ((ActiveLease) lease).releaseQuietly();
            }
        }));
        return stage;
    }

    private NameEngine engine() {
        return Objects.requireNonNull(engine, "not submitted");
    }

    private Lease join() {
        try {
            return result.join();
        } catch (CompletionException e) {
            throw unwrapped(e.getCause());
        }
    }

    /** The exception as one of the waiting thread: with its stack, and the original as cause where it came from afar. */
    private static RuntimeException unwrapped(@Nullable Throwable cause) {
        if (cause instanceof LockTimeoutException e) {
            return new LockTimeoutException(String.valueOf(e.getMessage()));
        }
        if (cause instanceof LockClientClosedException e) {
            return new LockClientClosedException(String.valueOf(e.getMessage()));
        }
        if (cause instanceof LockStoreException e) {
            return new LockStoreException(String.valueOf(e.getMessage()), e.getCause());
        }
        return new IllegalStateException("Unexpected end of a wait", cause);
    }
}
