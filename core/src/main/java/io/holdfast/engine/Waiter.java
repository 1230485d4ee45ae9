package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.DeadlockException;
import io.holdfast.DistributedLock;
import io.holdfast.Lease;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.LockTimeoutException;
import io.holdfast.engine.LockEvents.WaitTrace;
import io.holdfast.log.Quoted;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A caller that wants a lease: a parked thread, or a stage.
 *
 * <p>Possible state transitions, each made once, under the lock of the name:
 *
 * <pre>
 *   PENDING → GRANTED
 *   PENDING → TIMED_OUT | WITHDRAWN (interrupted or cancelled) | FAILED
 * </pre>
 *
 * <p>The thread that made the transition publishes the outcome by {@link #complete}, after that lock is released.
 */
public final class Waiter {

    /** What a waiter without a wait time of its own does, and how the caller receives the end of the wait. */
    public enum Mode {
        /** Waits as long as needed; the end of a bounded wait is an exception. */
        PATIENT,
        /** Makes one attempt; the end of a wait is an empty result. */
        TRY
    }

    enum State {
        PENDING,
        GRANTED,
        TIMED_OUT,
        WITHDRAWN,
        FAILED
    }

    static final long NO_DEADLINE = Long.MAX_VALUE;

    final LockOptions options;

    /** The thread that will own the lease as a {@link DistributedLock}, or null: then the lease itself is the owner. */
    final @Nullable Thread owner;

    public final long arrivedNanos;

    /** How long it may wait; {@link #NO_DEADLINE} without limit; zero means one attempt. */
    final long waitNanos;

    /** Whether it asks the store only once, however long it may wait for the answer. */
    private boolean asksOnce; // not changed after construction

    /** Whether the caller runs a task under the lease: another thread cannot release that lease. */
    private boolean isForTask; // not changed after construction

    /** Whether the listener is not notified if the wait fails, because the caller tries another way. */
    boolean failsQuietly; // by the engine's lock

    /** Whether its caller asks for other names, too, and works only when all are there. Set before it is submitted. */
    boolean isPart;

    /** Whether the name is known to have been busy when the wait ended without a lease. */
    boolean foundBusy; // by the engine's lock; published with the outcome

    /**
     * The sending of the command whose answer is the first that the waiter can hear; null if none was under way when
     * the wait began. While that command is under way, the waiter knows nothing of the name.
     */
    @Nullable
    ClockReading command; // by the engine's lock

    /** Whether its time is over, and it waits only for the answer to {@link #command}, which has had little time. */
    boolean overdue; // by the engine's lock

    /** For how long the store had not answered at the end of the wait; zero if no command waited for long. */
    long unheardNanos; // by the engine's lock

    State state = State.PENDING; // by the engine's lock
    TimeSource.@Nullable Timer timer; // by the engine's lock

    /**
     * Whether a command for several names found a holder without expiry, so that a second check is due. Published by
     * the outcome.
     */
    boolean checksAgain;

    /** Whether the wait was found to be part of a deadlock. */
    boolean refused; // by the lock of DeadlockCheck

    @Nullable
    Waiter before; // by the engine's lock; the place in its queue

    @Nullable
    public Waiter after; // by the engine's lock

    /** The thread that is parked for the outcome, and can be woken to try for itself; null for a stage. */
    public final @Nullable Thread parked;

    private final @Nullable CompletableFuture<Lease> future;

    /** The wait as observers follow it; null if none does. Set before the waiter is submitted, or by them. */
    @Nullable
    public WaitTrace trace; // by the engine's lock; published with the outcome

    /** The engine it was submitted to; written before the waiter is handed to its caller. */
    private @Nullable NameEvents engine;

    /** The place where the caller asks for the lease; null unless {@link EngineSettings#tracesLeases} is set. */
    @Nullable
    Throwable place; // by the engine's lock

    /** The caller's lease: a handle, or the engine's own lease if a thread owns it. */
    private @Nullable Lease lease; // by the engine's lock; published with the outcome

    private @Nullable LockException error; // published by done, or by the future
    private volatile boolean done;

    /**
     * Whether it was woken to claim an open lock and has not tried yet. Until it has, it is not woken for that again.
     */
    private volatile boolean nudged;

    private Waiter(LockOptions options, Mode mode, @Nullable Thread owner, @Nullable Thread parked, long arrivedNanos) {
        this.options = options;
        this.owner = owner;
        this.parked = parked;
        this.future = parked == null ? new CompletableFuture<>() : null;
        this.arrivedNanos = arrivedNanos;
        this.waitNanos = waitNanos(options, mode);
    }

    static long waitNanos(LockOptions options, Mode mode) {
        return options.waitAtMost().map(Duration::toNanos).orElse(mode == Mode.TRY ? 0 : NO_DEADLINE);
    }

    /** Makes a waiter for the calling thread, which then calls one of the awaiting methods. */
    static Waiter blocking(LockOptions options, Mode mode, @Nullable Thread owner, long nowNanos) {
        return new Waiter(options, mode, owner, Thread.currentThread(), nowNanos);
    }

    /** Makes a waiter for the calling thread, which runs a task under the lease. */
    static Waiter forTask(LockOptions options, Mode mode, long nowNanos) {
        Waiter waiter = blocking(options, mode, null, nowNanos);
        waiter.isForTask = true;
        return waiter;
    }

    static Waiter asynchronous(LockOptions options, Mode mode, long nowNanos) {
        return new Waiter(options, mode, null, null, nowNanos);
    }

    /**
     * Makes a waiter for one attempt together with others. The options say how long the caller waits for the answer.
     */
    static Waiter forMulti(LockOptions options, boolean blocking, boolean failsQuietly, long nowNanos) {
        Thread parked = blocking ? Thread.currentThread() : null;
        Waiter waiter = new Waiter(options, Mode.PATIENT, null, parked, nowNanos);
        waiter.asksOnce = true;
        waiter.isPart = true;
        waiter.failsQuietly = failsQuietly;
        return waiter;
    }

    /** The waiter is submitted to a name. Called by the thread that asks. */
    void onSubmitted(NameEvents engine) {
        this.engine = engine;
        if (owner == null && engine.settings().tracesLeases) {
            place = new Throwable("The lease on " + Quoted.name(engine.name()) + " was acquired here");
        }
    }

    /** Makes the lease that this waiter is granted. */
    ActiveLease leaseOn(Hold hold, long grantedNanos) {
        if (owner != null) {
            lease = new ActiveLease(hold, grantedNanos, this, null);
        } else {
            lease = isForTask
                    ? new LeaseHandle.TaskLease(hold, grantedNanos, this)
                    : new LeaseHandle(hold, grantedNanos, this);
        }
        return LeaseHandle.active(lease);
    }

    boolean makesOneAttempt() {
        return asksOnce || waitNanos == 0;
    }

    /**
     * Returns the rest of its time; {@link #NO_DEADLINE} if no deadline ends the wait, as for a waiter with one
     * attempt.
     */
    long leftNanos(long nowNanos) {
        return waitNanos == 0 || waitNanos == NO_DEADLINE
                ? NO_DEADLINE
                : Math.max(0, waitNanos - (nowNanos - arrivedNanos));
    }

    /** Returns the length of its own that this waiter's lease has at the store; zero if it is renewed without limit. */
    long boundNanos() {
        return options.leaseFor().or(options::holdAtMost).map(Duration::toNanos).orElse(0L);
    }

    /**
     * Returns the length that the store is to give a hold for this waiter: whole milliseconds, as it can give no
     * others.
     */
    long storeLeaseNanos(long regularNanos) {
        long bound = boundNanos();
        long length =
                bound == 0 ? regularNanos : options.leaseFor().isPresent() ? bound : Math.min(bound, regularNanos);
        return length - length % 1_000_000;
    }

    /** Returns the id of the thread that waits; zero if none does. */
    @SuppressWarnings("deprecation") // threadId() came with Java 19
    public long threadId() {
        return parked == null ? 0 : parked.getId();
    }

    /** Names the caller, at the beginning of a sentence. */
    public String describe() {
        if (parked == null) {
            return "An asynchronous caller";
        }
        // A virtual thread has no name by default.
        return parked.getName().isEmpty() ? "Thread #" + threadId() : "Thread " + Quoted.name(parked.getName());
    }

    /** Publishes the outcome, once: an error, or the lease that this waiter was granted. */
    void complete(@Nullable LockException why) {
        error = why;
        if (future != null) {
            tellDelivered();
            if (why == null) {
                future.complete(requireNonNull(lease));
            } else {
                future.completeExceptionally(why);
            }
            return;
        }
        done = true;
        LockSupport.unpark(parked);
    }

    /** Wakes the thread to claim the lock for itself. */
    void nudge() {
        if (!nudged) {
            nudged = true;
            LockSupport.unpark(parked);
        }
    }

    // --- the blocking edge: the only place where a caller's thread waits for a lock ---

    /** Counts an interrupt before the wait like one during it, as {@link java.util.concurrent.locks.Lock} asks. */
    public static void ensureNotInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    public Lease await() throws InterruptedException {
        park(true);
        return leaseOrThrow();
    }

    public Optional<Lease> awaitOptional() throws InterruptedException {
        park(true);
        return leaseUnlessTimedOut();
    }

    public Optional<Lease> awaitUninterruptibly() {
        try {
            park(false);
        } catch (InterruptedException never) {
            throw new IllegalStateException(never);
        }
        return leaseUnlessTimedOut();
    }

    private Optional<Lease> leaseUnlessTimedOut() {
        return error instanceof LockTimeoutException ? Optional.empty() : Optional.of(leaseOrThrow());
    }

    private void park(boolean interruptibly) throws InterruptedException {
        try {
            parkUntilDone(interruptibly);
        } finally {
            tellDelivered();
        }
    }

    private void tellDelivered() {
        if (trace != null) {
            trace.onDelivered();
        }
    }

    private void parkUntilDone(boolean interruptibly) throws InterruptedException {
        boolean interrupted = false;
        while (!done) {
            if (nudged) {
                claim();
                continue;
            }
            DeadlockException deadlock = DeadlockCheck.beforeParking(this);
            if (deadlock != null) {
                engine().onLeave(this, State.FAILED, deadlock);
                // Its lock may have taken the wake-up of an outcome that came first: a park now might not end.
                continue;
            }
            LockSupport.park(this); // returns at once if the wait has ended
            if (Thread.interrupted()) {
                interrupted = true;
                if (interruptibly && withdraw()) {
                    throw new InterruptedException();
                }
                // Another outcome came first. The interrupt flag reports the interrupt to the caller.
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns whether only an outcome from elsewhere ends the wait of its thread. */
    boolean isUnbounded() {
        return waitNanos == NO_DEADLINE && !asksOnce && parked != null && !options.ignoresDeadlocks() && !done;
    }

    /**
     * Returns the leases of this client that it waits for the end of, each of them. A waiter that was granted its own
     * lease, and does not know it yet, waits for nothing.
     */
    Collection<ActiveLease> blockedBy() {
        Collection<ActiveLease> out = engine().blocking();
        Lease own = lease;
        return own != null && out.contains(LeaseHandle.active(own)) ? List.of() : out;
    }

    // --- the steps of a waiting thread; a simulation takes them for its threads ---

    /** Whether a parked thread has been woken. */
    boolean isRunnable() {
        return done || nudged;
    }

    boolean isDone() {
        return done;
    }

    /** Tries for the lock, as the nudge asked. */
    void claim() {
        nudged = false;
        engine().onClaim(this);
    }

    /** Gives up. Returns false if there has been another outcome. */
    public boolean withdraw() {
        return engine().onLeave(this, State.WITHDRAWN, null);
    }

    /** Returns or throws the outcome of a waiter that is done. */
    Lease leaseOrThrow() {
        LockException why = error;
        if (why == null) {
            return requireNonNull(lease);
        }
        throw rethrown(why);
    }

    /** Returns a copy with the stack of the waiting thread: the exception was made elsewhere and may be shared. */
    static LockException rethrown(LockException why) {
        String message = String.valueOf(why.getMessage());
        if (why instanceof LockTimeoutException timeout) {
            return new LockTimeoutException(
                    message,
                    timeout.lockNames(),
                    timeout.waited(),
                    timeout.holder().orElse(null));
        }
        if (why instanceof DeadlockException deadlock) {
            return new DeadlockException(message, deadlock.lockNames());
        }
        if (why instanceof LockClientClosedException) {
            return new LockClientClosedException(message);
        }
        if (why instanceof LockStoreException failed) {
            return new LockStoreException(message, failed.store(), failed.getCause(), failed.isFatal());
        }
        return new LockStoreException(message, "", why.getCause());
    }

    /** Returns how the wait ended if others held the lock; null if it ended in another way. For an ended wait. */
    @Nullable
    LockTimeoutException timeout() {
        return error instanceof LockTimeoutException busy ? busy : null;
    }

    /** Returns whether an ended wait ended by a good answer of the store. */
    boolean wasAnswered() {
        return foundBusy || state == State.GRANTED;
    }

    // --- the asynchronous edge ---

    public CompletionStage<Lease> stage() {
        return staged();
    }

    /** Returns the stage of a wait that may end empty. */
    public CompletionStage<Optional<Lease>> optionalStage() {
        return staged().optional(granted -> LeaseHandle.active(granted).releaseQuietly());
    }

    private CallbackStage<Lease> staged() {
        return new StagedWait(this, engine(), requireNonNull(future)).stage();
    }

    private NameEvents engine() {
        return requireNonNull(engine, "not submitted");
    }
}
