package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.engine.Engine;
import io.holdfast.engine.Limits;
import io.holdfast.engine.PoolRequest;
import io.holdfast.engine.Waiter;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Permits of one name: at most a limited number is held at a time, over all clients of the store. Not reentrant: a
 * thread that takes a second permit while it has one can wait for itself, without end if all others do the same.
 *
 * <pre>{@code
 * Permits exports = locks.permits("export", 5);          // at most five exports in the fleet
 * try (Lease permit = exports.acquire()) {
 *     export(report);
 * }
 * try (Lease permits = exports.weight(3).acquire()) {     // counts as three of the five
 *     export(largeReport);
 * }
 * }</pre>
 *
 * <p><b>A permit is a {@link Lease}.</b> It is renewed for as long as it is held, it can be lost, and it ends by itself
 * when its process has died. Any thread may release it, but no other process can. {@link Lease#isExclusive} is false: a
 * fencing token of a permit is larger than those of all earlier permits of the name, but several are valid at once. So a
 * resource that refuses smaller tokens would refuse permits that are valid.
 *
 * <p><b>The order is strict.</b> A request is granted when it and all requests before it fit, over all clients. A small
 * one does not overtake a large one, so none starves; and a request for many permits holds up those behind it.
 *
 * <p><b>The limit</b> is part of each request, and the store keeps none. After a change, clients with the old limit and
 * with the new one may run side by side: each request is granted only if all permits that are held or were asked for
 * before, and its own, are within its limit. A lowered limit ends no permit that is held.
 *
 * <p>Needs a store that has permits: Redis in mode {@code lua}, ZooKeeper, a database, or memory. On any other store, the
 * first acquisition fails with {@link LockStoreException}. {@link LockOptions#fair} and {@link LockOptions#tenure} change
 * nothing here. A listener, a tracer, the flight recorder and tools see {@value #SHOWN_PREFIX} before the name.
 *
 * <p>The forms of acquiring are those of {@link LockClient}, without the name; on a closed client they throw {@link
 * LockClientClosedException}, and the stages fail with it. Immutable and thread-safe.
 */
public final class Permits {

    /** Stands before the name where listeners, meters, traces, recordings and tools show it beside locks. */
    public static final String SHOWN_PREFIX = "permits:";

    private final Supplier<Engine> engine;
    private final PoolRequest wanted;

    /** @param engine returns the client's engine that is open now */
    Permits(Supplier<Engine> engine, String name, int limit) {
        this(engine, PoolRequest.permit(name, limit));
    }

    private Permits(Supplier<Engine> engine, PoolRequest wanted) {
        this.engine = engine;
        this.wanted = wanted;
    }

    /** Returns the name. */
    public String name() {
        return wanted.name();
    }

    /** Returns how many permits there are. */
    public int limit() {
        return wanted.limit();
    }

    /** Returns how many permits one acquisition of this object takes; 1 unless {@link #weight(int)} has set it. */
    public int weight() {
        return wanted.weight();
    }

    /**
     * Returns the same permits, of which one acquisition takes so many: all together, by one lease.
     *
     * @throws IllegalArgumentException if the weight is below 1 or above the limit
     */
    public Permits weight(int weight) {
        return new Permits(engine, wanted.weighing(weight));
    }

    // --- blocking ---

    /** Acquires and waits as long as needed: {@link #acquire(LockOptions)} with the defaults. */
    @CheckReturnValue
    public Lease acquire() throws InterruptedException {
        return acquire(LockOptions.defaults());
    }

    /**
     * Acquires and waits for at most this time; zero means one attempt.
     *
     * @throws LockTimeoutException if the wait time passed
     * @throws IllegalArgumentException if the wait is negative or longer than 100 years
     */
    @CheckReturnValue
    public Lease acquire(Duration wait) throws InterruptedException {
        return acquire(LockOptions.defaults().waitAtMost(wait));
    }

    /**
     * Acquires permits. Waits for at most {@link LockOptions#waitAtMost}, or as long as needed without that option.
     *
     * @throws LockTimeoutException if the wait time passed
     * @throws LockStoreException if the store failed, or has no permits
     * @throws InterruptedException if the thread was interrupted while it waited; nothing is left behind
     */
    @CheckReturnValue
    public Lease acquire(LockOptions options) throws InterruptedException {
        Waiter.ensureNotInterrupted();
        return submit(options, Waiter.Mode.PATIENT).await();
    }

    /**
     * Acquires if that is possible now, which it is not while others wait. Sends one command, and waits for the answer
     * even when interrupted.
     *
     * @throws LockStoreException if the store failed, or has no permits
     */
    @CheckReturnValue
    public Optional<Lease> tryAcquire() {
        return tryOnce(LockOptions.defaults());
    }

    private Optional<Lease> tryOnce(LockOptions options) {
        return submit(options, Waiter.Mode.TRY).awaitUninterruptibly();
    }

    /**
     * Acquires if that is possible within this time; zero means one attempt.
     *
     * @return empty if others held the permits for all of that time
     */
    @CheckReturnValue
    public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        return tryAcquire(LockOptions.defaults().waitAtMost(wait));
    }

    /**
     * Acquires if that is possible within {@link LockOptions#waitAtMost}; without that option, if it is possible now.
     *
     * @return empty if others held the permits for all of that time
     * @throws LockStoreException if the store failed, has no permits, or answered nothing during the whole wait
     * @throws InterruptedException if the thread was interrupted while it waited; nothing is left behind
     */
    @CheckReturnValue
    public Optional<Lease> tryAcquire(LockOptions options) throws InterruptedException {
        Waiter.ensureNotInterrupted();
        return submit(options, Waiter.Mode.TRY).awaitOptional();
    }

    private Waiter submit(LockOptions options, Waiter.Mode mode) {
        return AcquireForms.submit(engine.get(), wanted, options, mode);
    }

    // --- asynchronous ---

    /** Acquires without a thread that waits: {@link #acquireAsync(LockOptions)} with the defaults. */
    @CheckReturnValue
    public CompletionStage<Lease> acquireAsync() {
        return acquireAsync(LockOptions.defaults());
    }

    /** Acquires as {@link #acquire(Duration)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Lease> acquireAsync(Duration wait) {
        return acquireAsync(LockOptions.defaults().waitAtMost(wait));
    }

    /**
     * Acquires without a thread that waits. The stage completes on the client's callback executor, with the exceptions
     * of {@link #acquire(LockOptions)}. Cancelling its {@code toCompletableFuture()}, or completing it in another way
     * ({@code orTimeout}), withdraws the wait.
     */
    @CheckReturnValue
    public CompletionStage<Lease> acquireAsync(LockOptions options) {
        return AcquireForms.patient(engine.get(), wanted, options);
    }

    /** Acquires as {@link #tryAcquire()} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<Lease>> tryAcquireAsync() {
        return tryAcquireAsync(LockOptions.defaults());
    }

    /** Acquires as {@link #tryAcquire(Duration)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<Lease>> tryAcquireAsync(Duration wait) {
        return tryAcquireAsync(LockOptions.defaults().waitAtMost(wait));
    }

    /** Acquires as {@link #tryAcquire(LockOptions)} does, without a thread that waits. */
    @CheckReturnValue
    public CompletionStage<Optional<Lease>> tryAcquireAsync(LockOptions options) {
        return AcquireForms.trying(engine.get(), wanted, options);
    }

    // --- for people and tools ---

    /**
     * Returns who holds permits of this name now, whatever limit this object has. Costs one command, and one for the
     * card of each client that holds some, of at most a hundred.
     *
     * @throws LockStoreException if the store failed, or has no permits
     */
    public PermitsState inspect() {
        return engine.get().pools().inspectPermits(wanted);
    }

    /**
     * Ends the hold of this holder, in this client or elsewhere, without asking its owner: as {@link
     * LockClient#forceRelease(String, String)}. All other holds stay.
     *
     * @param holder the holder to release, as {@link PermitsState.Hold#holder} shows it
     * @return {@link ForcedRelease.Outcome#HELD_BY_ANOTHER} if it has no permit and others have some
     * @throws IllegalArgumentException if the holder is empty
     * @throws LockStoreException if the store failed, or has no permits
     */
    @CheckReturnValue
    public ForcedRelease forceRelease(String holder) {
        return engine.get().pools().forceRelease(wanted, Limits.checkHolder(holder));
    }

    /**
     * Ends all holds of this name, whatever limit this object has: as {@link #forceRelease(String)}, without a
     * comparison. For recoveries and tests.
     *
     * @return true if there was a hold
     * @throws LockStoreException if the store failed, or has no permits
     */
    public boolean forceReleaseAll() {
        return engine.get().pools().forceRelease(wanted, null).isEnded();
    }

    // --- under a lambda, always released ---

    /** Runs a task under a permit: {@link #run(LockOptions, Consumer)} with the defaults. */
    public void run(Consumer<? super Lease> task) throws InterruptedException {
        run(LockOptions.defaults(), task);
    }

    /**
     * Runs a task under a permit, and releases the permit. The permit is released by this method, or sooner by the
     * thread that runs the task. For a task that throws checked exceptions, use {@link #runChecked}.
     *
     * @throws LeaseLostException after the task, if the permit was lost during it
     * @throws LockTimeoutException if the wait time passed; the task has not run
     */
    public void run(LockOptions options, Consumer<? super Lease> task) throws InterruptedException {
        requireNonNull(task, "task");
        this.<RuntimeException>runChecked(options, task::accept);
    }

    /** Runs a task as {@link #run(Consumer)} does, and returns its result. */
    public <T extends @Nullable Object> T call(Function<? super Lease, ? extends T> task) throws InterruptedException {
        return call(LockOptions.defaults(), task);
    }

    /** Runs a task as {@link #run(LockOptions, Consumer)} does, and returns its result. */
    public <T extends @Nullable Object> T call(LockOptions options, Function<? super Lease, ? extends T> task)
            throws InterruptedException {
        requireNonNull(task, "task");
        return this.<T, RuntimeException>callChecked(options, task::apply);
    }

    /**
     * Runs a task under a permit, if {@link #tryAcquire()} acquires one, and releases the permit.
     *
     * @return whether the task ran
     * @throws LeaseLostException after the task, if the permit was lost during it
     */
    public boolean tryRun(Consumer<? super Lease> task) {
        requireNonNull(task, "task");
        return TaskForms.run(tryOnce(TaskForms.underTask(LockOptions.defaults())), task);
    }

    /** Runs a task as {@link #tryRun(LockOptions, Consumer)} does, within this time. */
    public boolean tryRun(Duration wait, Consumer<? super Lease> task) throws InterruptedException {
        return tryRun(LockOptions.defaults().waitAtMost(wait), task);
    }

    /**
     * Runs a task under a permit, if {@link #tryAcquire(LockOptions)} acquires one, and releases the permit.
     *
     * @return whether the task ran
     * @throws LeaseLostException after the task, if the permit was lost during it
     */
    public boolean tryRun(LockOptions options, Consumer<? super Lease> task) throws InterruptedException {
        requireNonNull(task, "task");
        return TaskForms.run(tryAcquire(TaskForms.underTask(options)), task);
    }

    /** Runs a task as {@link #run(Consumer)} does, and rethrows its checked exception. */
    public <E extends Exception> void runChecked(LeaseTask<E> task) throws E, InterruptedException {
        runChecked(LockOptions.defaults(), task);
    }

    /** Runs a task as {@link #run(LockOptions, Consumer)} does, and rethrows its checked exception. */
    public <E extends Exception> void runChecked(LockOptions options, LeaseTask<E> task)
            throws E, InterruptedException {
        requireNonNull(task, "task");
        try (Lease permit = acquire(TaskForms.underTask(options))) {
            task.run(permit);
        }
    }

    /** Runs a task as {@link #call(Function)} does, and rethrows its checked exception. */
    public <T extends @Nullable Object, E extends Exception> T callChecked(LeaseCall<T, E> task)
            throws E, InterruptedException {
        return callChecked(LockOptions.defaults(), task);
    }

    /** Runs a task as {@link #call(LockOptions, Function)} does, and rethrows its checked exception. */
    public <T extends @Nullable Object, E extends Exception> T callChecked(LockOptions options, LeaseCall<T, E> task)
            throws E, InterruptedException {
        requireNonNull(task, "task");
        try (Lease permit = acquire(TaskForms.underTask(options))) {
            return task.call(permit);
        }
    }

    /** Runs an asynchronous task: {@link #callAsync(LockOptions, Function)} with the defaults. */
    public <T extends @Nullable Object> CompletionStage<T> callAsync(
            Function<? super Lease, ? extends CompletionStage<T>> task) {
        return callAsync(LockOptions.defaults(), task);
    }

    /**
     * Runs an asynchronous task under a permit, and releases the permit when the stage of the task ends in any way. The
     * task begins on the client's callback executor. Completing the returned stage from outside withdraws the wait; a
     * task that has begun keeps the permit until its stage ends.
     *
     * @return the outcome of the task, after the release; {@link LeaseLostException} if the permit was lost before
     */
    public <T extends @Nullable Object> CompletionStage<T> callAsync(
            LockOptions options, Function<? super Lease, ? extends CompletionStage<T>> task) {
        requireNonNull(task, "task");
        return TaskForms.callAsync(acquireAsync(options.leftAtClose()).toCompletableFuture(), task);
    }

    /** Returns name, limit and weight, for people and logs. */
    @Override
    public String toString() {
        return "Permits[" + wanted + "]";
    }
}
