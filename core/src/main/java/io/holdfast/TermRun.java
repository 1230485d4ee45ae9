package io.holdfast;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs one term of a leadership: elects, watches the lease, revokes and releases.
 *
 * <p>Invariants: the listener's calls run on one thread, {@code onElected} before {@code onRevoked}, each at most once,
 * and the second only if the first has begun. A revocation is final. It begins while more than nothing is left of the
 * lease: at {@code stopNanos} before the lease can end, unless the process was paused. The lease is released when the
 * calls have returned, or {@code stopNanos} after the revocation began.
 */
class TermRun {

    /** Makes the run of a term; a test's may break a rule. */
    @FunctionalInterface
    interface Maker {
        TermRun make(
                LockClient client,
                String leadership,
                Lease lease,
                LeadershipListener listener,
                Executor thread,
                TimeSource time,
                Duration stopWithin);
    }

    /** A suspended machine stops monotonic time, so a timer may not wait for as long as the lease lasts. */
    private static final long LOOK_NANOS = 1_000_000_000;

    private final LockClient client;
    final Lease lease;
    private final Term term;
    private final LeadershipListener listener;
    private final Executor thread;
    private final TimeSource time;
    private final long stopNanos;
    private final long beganNanos;

    /** Completes when the lease is released and the listener's calls have returned; with whether the term failed. */
    private final CompletableFuture<Boolean> over;

    final CompletableFuture<Void> released = new CompletableFuture<>();
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();

    /** Guards the fields below. Never held while the listener or the lease is called. */
    private final ReentrantLock state = new ReentrantLock();

    private boolean revoked;
    /** Whether the lease was once long enough to stop in. Only then does the term lead. */
    private boolean ready;

    private boolean elected;
    /** Whether the next campaign begins after a pause. */
    private boolean failed;

    private boolean releasing;
    /** The thread in {@code onElected}. */
    private @Nullable Thread working;
    /** The next look at the lease, then the end of the time to stop. */
    private TimeSource.@Nullable Timer timer;

    TermRun(
            LockClient client,
            String leadership,
            Lease lease,
            LeadershipListener listener,
            Executor thread,
            TimeSource time,
            Duration stopWithin) {
        this.client = client;
        this.lease = lease;
        this.term = new Term(leadership, lease);
        this.listener = listener;
        this.thread = thread;
        this.time = time;
        this.stopNanos = stopWithin.toNanos();
        this.beganNanos = time.nanoTime();
        this.over = released.thenCombine(stopped, (noLease, noCalls) -> locked(state, () -> failed));
    }

    /** Completes when the term is over; with whether it failed, so that the next campaign begins after a pause. */
    CompletableFuture<Boolean> over() {
        return over;
    }

    Term term() {
        return term;
    }

    long ledNanos() {
        return time.nanoTime() - beganNanos;
    }

    /** Returns whether the term has begun, and is neither revoked nor over. */
    boolean leads() {
        return locked(state, () -> ready && !revoked) && lease.isValid();
    }

    void begin() {
        lease.onLost(() -> revoke("its lease is lost", true));
        if (leftNanos() > 0) {
            lead();
            return;
        }
        // A store that hands the lock on by a message gives it a short time, which the client may have to lengthen
        // before there is time to stop.
        var unused = lease.extendAsync(Duration.ofNanos(3 * stopNanos)).whenComplete((done, error) -> lead());
    }

    private void lead() {
        look();
        boolean begins = locked(state, () -> {
            ready = !revoked;
            return ready;
        });
        if (!begins) {
            return;
        }
        try {
            thread.execute(this::elect);
        } catch (Error e) {
            // The system has no more threads. Without a release, the client would keep the lock, and nobody would lead.
            giveUp(e);
        }
    }

    void elect() {
        // The thread, or the whole process, may have taken long to come here.
        revokeIfDue();
        boolean begins = locked(state, () -> {
            elected = !revoked;
            working = elected ? Thread.currentThread() : null;
            return elected;
        });
        if (!begins) {
            return;
        }
        LockClient.log(
                INFO, "This process leads \"" + term.leadership() + "\" (term " + term.fencingToken() + ")", null);
        client.notifyListeners(each -> each.elected(term.leadership(), term.fencingToken()));
        Throwable error = null;
        try {
            listener.onElected(term);
        } catch (Throwable e) {
            error = e;
        }
        boolean threw = error != null;
        boolean ended = locked(state, () -> {
            working = null;
            failed = threw && !revoked;
            return revoked;
        });
        // An interrupt of this call does not concern the next one.
        Thread.interrupted();
        if (error != null && !(ended && error instanceof InterruptedException)) {
            LockClient.log(WARNING, "onElected of the leadership \"" + term.leadership() + "\" failed", error);
        }
        if (error != null) {
            revoke("onElected failed");
        }
    }

    /** Revokes the term if it is not, and returns at once. */
    void revoke(String why) {
        revoke(why, false);
    }

    /** @param alone whether nobody asked for it. Then a term that never began is a failure, or candidates of a client
     *     would pass a lease to and fro that is too short to lead */
    private void revoke(String why, boolean alone) {
        TimeSource.Timer look;
        state.lock();
        try {
            if (revoked) {
                return;
            }
            revoked = true;
            failed |= alone && !elected;
            if (working != null) {
                working.interrupt();
            }
            look = timer;
            timer = time.schedule(stopNanos, this::overdue);
        } finally {
            state.unlock();
        }
        if (look != null) {
            look.cancel();
        }
        LockClient.log(
                INFO,
                "This process no longer leads \"" + term.leadership() + "\" (term " + term.fencingToken() + "): " + why,
                null);
        try {
            stopNext();
        } catch (Error e) {
            // The listener has not begun, as its thread stays until the candidate is closed.
            giveUp(e);
        }
    }

    /** Lets the listener stop, after the call in which it is. */
    void stopNext() {
        thread.execute(this::stop);
    }

    final void stop() {
        try {
            if (locked(state, () -> elected)) {
                listener.onRevoked(term);
            }
        } catch (Throwable e) {
            LockClient.log(WARNING, "onRevoked of the leadership \"" + term.leadership() + "\" failed", e);
        } finally {
            Thread.interrupted();
            release(true);
            stopped.complete(null);
        }
    }

    /** Looks at the lease, and again in time. */
    private void look() {
        long left = revokeIfDue();
        state.lock();
        try {
            if (!revoked) {
                timer = time.schedule(Math.min(left, LOOK_NANOS), this::look);
            }
        } finally {
            state.unlock();
        }
    }

    /** Revokes the term if there is just time to stop; returns how long after this moment that will be. */
    private long revokeIfDue() {
        long left = leftNanos();
        if (left <= 0) {
            revoke(
                    "its lock was not renewed, and can be another's in " + DurationText.rounded(lease.remaining()),
                    true);
        }
        return left;
    }

    /** Returns how much of the lease is left beyond the time to stop. */
    long leftNanos() {
        return lease.remaining().toNanos() - stopNanos;
    }

    /** The time to stop is over. */
    void overdue() {
        if (release(false)) {
            LockClient.log(
                    WARNING,
                    "The listener of the leadership \"" + term.leadership() + "\" has not stopped within "
                            + DurationText.of(Duration.ofNanos(stopNanos)) + " (term " + term.fencingToken()
                            + "), so another process may lead while it still works (expected: a listener that stops when"
                            + " it is interrupted, or a longer stopWithin)",
                    null);
        }
    }

    /** Releases the lease, once; returns whether this call did. */
    final boolean release(boolean inTime) {
        boolean began;
        state.lock();
        try {
            if (releasing) {
                return false;
            }
            releasing = true;
            began = elected;
            if (timer != null) {
                timer.cancel();
            }
        } finally {
            state.unlock();
        }
        if (began) {
            Duration led = Duration.ofNanos(ledNanos());
            client.notifyListeners(each -> each.termEnded(term.leadership(), term.fencingToken(), led, inTime));
        }
        // A lease that was lost needs no release, and the client repeats one that the store did not answer.
        lease.releaseAsync().whenComplete((done, error) -> released.complete(null));
        return true;
    }

    private void giveUp(Error error) {
        LockClient.log(WARNING, "There is no thread for the leadership \"" + term.leadership() + "\"", error);
        state.lock();
        try {
            revoked = true;
            failed = true;
        } finally {
            state.unlock();
        }
        release(true);
        stopped.complete(null);
    }

    /** Reads or changes what a lock guards. */
    static <T extends @Nullable Object> T locked(ReentrantLock lock, Supplier<T> body) {
        lock.lock();
        try {
            return body.get();
        } finally {
            lock.unlock();
        }
    }
}
