package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.store.StoreErrors;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The methods of {@link LockClient} that run a task under the lock. The lease is always released, by the thread that
 * runs the task.
 */
abstract sealed class TaskForms extends AcquireForms permits ReadWriteForms {

    /**
     * Runs a task under the lock and releases the lock. Waits for the lock as long as needed.
     *
     * <p>The lease that the task receives is released by this method, or sooner by the thread that runs the task. Any
     * other thread that releases it gets an {@link IllegalStateException}.
     *
     * <p>Not reentrant. Inside a transaction of the caller the lock is released before that commits: begin the
     * transaction in the task, or use Spring's {@code LockTemplate} of {@code holdfast-spring-boot}, which waits for
     * its end.
     *
     * @throws LeaseLostException after the task, if the lease was lost during it
     */
    public void run(String name, Consumer<? super Lease> task) throws InterruptedException {
        run(name, LockOptions.defaults(), task);
    }

    /**
     * Runs a task under the lock and releases the lock. An exception of the task is thrown after the release; a loss of
     * the lease is then suppressed in it. For a task that throws checked exceptions, use {@link #runChecked}.
     *
     * @throws LeaseLostException after the task, if the lease was lost during it
     * @throws LockTimeoutException if the wait time passed; the task has not run
     * @throws LockStoreException if the store failed; the task has not run
     * @throws InterruptedException if the thread was interrupted while it waited; the task has not run
     */
    public void run(String name, LockOptions options, Consumer<? super Lease> task) throws InterruptedException {
        requireNonNull(task, "task");
        this.<RuntimeException>runChecked(name, options, task::accept);
    }

    /** Runs a task as {@link #run(String, Consumer)} does, and returns its result. */
    public <T extends @Nullable Object> T call(String name, Function<? super Lease, ? extends T> task)
            throws InterruptedException {
        return call(name, LockOptions.defaults(), task);
    }

    /** Runs a task as {@link #run(String, LockOptions, Consumer)} does, and returns its result. */
    public <T extends @Nullable Object> T call(
            String name, LockOptions options, Function<? super Lease, ? extends T> task) throws InterruptedException {
        requireNonNull(task, "task");
        return this.<T, RuntimeException>callChecked(name, options, task::apply);
    }

    /**
     * Runs a task under the lock if the lock is free now, and releases the lock.
     *
     * @return whether the task ran
     * @throws LeaseLostException after the task, if the lease was lost during it
     */
    public boolean tryRun(String name, Consumer<? super Lease> task) {
        requireNonNull(task, "task");
        return run(tryOnce(name, underTask(LockOptions.defaults())), task);
    }

    /**
     * Runs a task under the lock if that is possible within this time, and releases the lock.
     *
     * @return whether the task ran
     * @throws LeaseLostException after the task, if the lease was lost during it
     */
    public boolean tryRun(String name, Duration wait, Consumer<? super Lease> task) throws InterruptedException {
        return tryRun(name, LockOptions.defaults().waitAtMost(wait), task);
    }

    /**
     * Runs a task under the lock if {@link LockClient#tryAcquire(String, LockOptions)} acquires it, and releases the
     * lock.
     *
     * @return whether the task ran
     * @throws LeaseLostException after the task, if the lease was lost during it
     */
    public boolean tryRun(String name, LockOptions options, Consumer<? super Lease> task) throws InterruptedException {
        requireNonNull(task, "task");
        return run(tryAcquire(name, underTask(options)), task);
    }

    static LockOptions underTask(LockOptions options) {
        return options.forTask().leftAtClose();
    }

    static boolean run(Optional<Lease> acquired, Consumer<? super Lease> task) {
        acquired.ifPresent(lease -> {
            try (lease) {
                task.accept(lease);
            }
        });
        return acquired.isPresent();
    }

    /** Runs a task as {@link #run(String, Consumer)} does, and rethrows its checked exception. */
    public <E extends Exception> void runChecked(String name, LeaseTask<E> task) throws E, InterruptedException {
        runChecked(name, LockOptions.defaults(), task);
    }

    /** Runs a task as {@link #run(String, LockOptions, Consumer)} does, and rethrows its checked exception. */
    public <E extends Exception> void runChecked(String name, LockOptions options, LeaseTask<E> task)
            throws E, InterruptedException {
        requireNonNull(task, "task");
        try (Lease lease = acquire(name, underTask(options))) {
            task.run(lease);
        }
    }

    /** Runs a task as {@link #call(String, Function)} does, and rethrows its checked exception. */
    public <T extends @Nullable Object, E extends Exception> T callChecked(String name, LeaseCall<T, E> task)
            throws E, InterruptedException {
        return callChecked(name, LockOptions.defaults(), task);
    }

    /** Runs a task as {@link #call(String, LockOptions, Function)} does, and rethrows its checked exception. */
    public <T extends @Nullable Object, E extends Exception> T callChecked(
            String name, LockOptions options, LeaseCall<T, E> task) throws E, InterruptedException {
        requireNonNull(task, "task");
        try (Lease lease = acquire(name, underTask(options))) {
            return task.call(lease);
        }
    }

    /** Runs an asynchronous task: {@link #callAsync(String, LockOptions, Function)} with the defaults. */
    public <T extends @Nullable Object> CompletionStage<T> callAsync(
            String name, Function<? super Lease, ? extends CompletionStage<T>> task) {
        return callAsync(name, LockOptions.defaults(), task);
    }

    /**
     * Runs an asynchronous task under the lock, and releases the lock when the stage of the task ends in any way. The
     * task begins on the client's callback executor.
     *
     * <p>Completing the returned stage from outside ({@code cancel}, {@code orTimeout}) withdraws the wait. A task that
     * has begun continues and keeps the lock until its stage ends: an earlier release would leave running work without
     * protection.
     *
     * @return the outcome of the task, after the release; {@link LeaseLostException} if the lease was lost before
     */
    public <T extends @Nullable Object> CompletionStage<T> callAsync(
            String name, LockOptions options, Function<? super Lease, ? extends CompletionStage<T>> task) {
        requireNonNull(task, "task");
        return callAsync(acquireAsync(name, options.leftAtClose()).toCompletableFuture(), task);
    }

    /** Runs the task when the lease is there, and releases the lease when the stage of the task has ended. */
    static <T extends @Nullable Object> CompletionStage<T> callAsync(
            CompletableFuture<Lease> acquired, Function<? super Lease, ? extends CompletionStage<T>> task) {
        CompletableFuture<T> outcome = acquired.newIncompleteFuture();
        CompletionStage<T> ended = outcome;
        ended.whenComplete((value, why) -> acquired.cancel(false));
        CompletionStage<Lease> granted = acquired;
        granted.whenComplete((lease, why) -> {
            if (why != null) {
                outcome.completeExceptionally(StoreErrors.cause(why));
            } else if (outcome.isDone()) {
                var unused = lease.releaseAsync();
            } else {
                begun(task, lease)
                        .whenComplete((value, failure) -> lease.releaseAsync()
                                .whenComplete((nothing, loss) -> end(outcome, value, failure, loss)));
            }
        });
        return outcome;
    }

    private static <T extends @Nullable Object> CompletionStage<T> begun(
            Function<? super Lease, ? extends CompletionStage<T>> task, Lease lease) {
        try {
            return requireNonNull(task.apply(lease), "the stage that the task returns");
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static <T extends @Nullable Object> void end(
            CompletableFuture<T> outcome, T value, @Nullable Throwable failure, @Nullable Throwable loss) {
        if (failure != null) {
            Throwable why = StoreErrors.cause(failure);
            if (loss != null) {
                why.addSuppressed(StoreErrors.cause(loss));
            }
            outcome.completeExceptionally(why);
        } else if (loss != null) {
            outcome.completeExceptionally(StoreErrors.cause(loss));
        } else {
            outcome.complete(value);
        }
    }
}
