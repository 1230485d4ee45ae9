package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.engine.StoreErrors;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The methods of {@link LockClient} that are made of others: without options, with a wait, under a lambda. */
abstract sealed class AcquireForms permits LockClient {

    @CheckReturnValue
    public abstract Lease acquire(String name, LockOptions options) throws InterruptedException;

    @CheckReturnValue
    public abstract Optional<Lease> tryAcquire(String name, LockOptions options) throws InterruptedException;

    /** Acquires the lock as {@link #tryAcquire(String)} does, with options that have no wait time. */
    abstract Optional<Lease> tryOnce(String name, LockOptions options);

    @CheckReturnValue
    public abstract CompletionStage<Lease> acquireAsync(String name, LockOptions options);

    @CheckReturnValue
    public abstract CompletionStage<Optional<Lease>> tryAcquireAsync(String name, LockOptions options);

    @CheckReturnValue
    public abstract MultiLease acquireAll(Collection<String> names, LockOptions options) throws InterruptedException;

    @CheckReturnValue
    public abstract Optional<MultiLease> tryAcquireAll(Collection<String> names, LockOptions options)
            throws InterruptedException;

    @CheckReturnValue
    public abstract CompletionStage<MultiLease> acquireAllAsync(Collection<String> names, LockOptions options);

    @CheckReturnValue
    public abstract CompletionStage<Optional<MultiLease>> tryAcquireAllAsync(
            Collection<String> names, LockOptions options);

    // --- without options, or with a wait alone ---

    /** Acquires the lock and waits as long as needed: {@link #acquire(String, LockOptions)} with the defaults. */
    @CheckReturnValue
    public Lease acquire(String name) throws InterruptedException {
        return acquire(name, LockOptions.defaults());
    }

    /**
     * Acquires the lock and waits for at most this time; zero means one attempt.
     *
     * @throws LockTimeoutException if the wait time passed
     * @throws IllegalArgumentException if the wait is negative or longer than 100 years
     */
    @CheckReturnValue
    public Lease acquire(String name, Duration wait) throws InterruptedException {
        return acquire(name, LockOptions.defaults().waitAtMost(wait));
    }

    /**
     * Acquires the lock if it is free now. Sends one command, and a second one soon after it if the lock is held
     * without expiry. Waits for the answer even when interrupted.
     *
     * @throws LockStoreException if the store failed
     */
    @CheckReturnValue
    public Optional<Lease> tryAcquire(String name) {
        return tryOnce(name, LockOptions.defaults());
    }

    /**
     * Acquires the lock if that is possible within this time; zero means one attempt.
     *
     * @return empty if others held the lock for all of that time
     * @throws LockStoreException if the store failed, or answered nothing during the whole wait
     * @throws IllegalArgumentException if the wait is negative or longer than 100 years
     */
    @CheckReturnValue
    public Optional<Lease> tryAcquire(String name, Duration wait) throws InterruptedException {
        return tryAcquire(name, LockOptions.defaults().waitAtMost(wait));
    }

    /** Acquires the lock without a thread that waits: {@link #acquireAsync(String, LockOptions)} with the defaults. */
    @CheckReturnValue
    public CompletionStage<Lease> acquireAsync(String name) {
        return acquireAsync(name, LockOptions.defaults());
    }

    /** Acquires the lock as {@link #acquire(String, Duration)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Lease> acquireAsync(String name, Duration wait) {
        return acquireAsync(name, LockOptions.defaults().waitAtMost(wait));
    }

    /** Acquires the lock as {@link #tryAcquire(String)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<Lease>> tryAcquireAsync(String name) {
        return tryAcquireAsync(name, LockOptions.defaults());
    }

    /** Acquires the lock as {@link #tryAcquire(String, Duration)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<Lease>> tryAcquireAsync(String name, Duration wait) {
        return tryAcquireAsync(name, LockOptions.defaults().waitAtMost(wait));
    }

    /** Acquires several locks together and waits as long as needed, with the default options. */
    @CheckReturnValue
    public MultiLease acquireAll(Collection<String> names) throws InterruptedException {
        return acquireAll(names, LockOptions.defaults());
    }

    /**
     * Acquires several locks together and waits for at most this time for all of them; zero means one attempt.
     *
     * @throws LockTimeoutException if the wait time passed
     * @throws IllegalArgumentException if the wait is negative or longer than 100 years
     */
    @CheckReturnValue
    public MultiLease acquireAll(Collection<String> names, Duration wait) throws InterruptedException {
        return acquireAll(names, LockOptions.defaults().waitAtMost(wait));
    }

    /** Acquires several locks together if all are free now, with the default options. */
    @CheckReturnValue
    public Optional<MultiLease> tryAcquireAll(Collection<String> names) throws InterruptedException {
        return tryAcquireAll(names, LockOptions.defaults());
    }

    /**
     * Acquires several locks together if that is possible within this time; zero means one attempt.
     *
     * @return empty if they were not free together
     * @throws IllegalArgumentException if the wait is negative or longer than 100 years
     */
    @CheckReturnValue
    public Optional<MultiLease> tryAcquireAll(Collection<String> names, Duration wait) throws InterruptedException {
        return tryAcquireAll(names, LockOptions.defaults().waitAtMost(wait));
    }

    /** Acquires several locks together without a thread that waits, with the default options. */
    @CheckReturnValue
    public CompletionStage<MultiLease> acquireAllAsync(Collection<String> names) {
        return acquireAllAsync(names, LockOptions.defaults());
    }

    /** Acquires several locks as {@link #acquireAll(Collection, Duration)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<MultiLease> acquireAllAsync(Collection<String> names, Duration wait) {
        return acquireAllAsync(names, LockOptions.defaults().waitAtMost(wait));
    }

    /** Acquires several locks as {@link #tryAcquireAll(Collection)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<MultiLease>> tryAcquireAllAsync(Collection<String> names) {
        return tryAcquireAllAsync(names, LockOptions.defaults());
    }

    /** Acquires several locks as {@link #tryAcquireAll(Collection, Duration)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<MultiLease>> tryAcquireAllAsync(Collection<String> names, Duration wait) {
        return tryAcquireAllAsync(names, LockOptions.defaults().waitAtMost(wait));
    }

    // --- under a lambda: the lease is always released, by the thread that runs the task ---

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
     * Runs a task under the lock and releases the lock. For a task that throws checked exceptions, use {@link
     * #runChecked}.
     *
     * @throws LeaseLostException after the task, if the lease was lost during it
     * @throws LockTimeoutException if the wait time passed; the task has not run
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

    private static LockOptions underTask(LockOptions options) {
        return options.forTask().leftAtClose();
    }

    private static boolean run(Optional<Lease> acquired, Consumer<? super Lease> task) {
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
        CompletableFuture<Lease> acquired =
                acquireAsync(name, options.leftAtClose()).toCompletableFuture();
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

    /**
     * Returns the form's stage. A closed client fails the stage instead of throwing, because the caller made no
     * mistake.
     */
    static <T> CompletionStage<T> staged(Supplier<CompletionStage<T>> form) {
        try {
            return form.get();
        } catch (LockClientClosedException e) {
            return CompletableFuture.failedFuture(e);
        }
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
