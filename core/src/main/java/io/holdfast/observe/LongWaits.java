package io.holdfast.observe;

import static java.lang.System.Logger.Level.INFO;

import io.holdfast.engine.ActiveLease;
import io.holdfast.engine.Engine;
import io.holdfast.engine.EventLock;
import io.holdfast.engine.LockEvents.NameVisitor;
import io.holdfast.engine.WaitText;
import io.holdfast.engine.Waiter;
import io.holdfast.log.BoundedLog;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Logs each wait that is longer than a minute, when the minute is over and when the wait ends. One timer serves all
 * waiters of a client, as a timer for each would cost every wait.
 *
 * <p>Invariant: until a waiter's minute has been checked, {@link #timer} is set, for no later than the end of that
 * minute (or {@link #AGAIN} after the last check, if that is later).
 */
final class LongWaits {

    static final Duration LONG = Duration.ofMinutes(1);

    /** None of the waiters needs another check. */
    private static final long NONE = Long.MAX_VALUE;

    /** Between two checks of the names of a client, of which there may be ten thousand. */
    private static final Duration AGAIN = Duration.ofSeconds(1);

    private final Engine engine;
    private final Cards cards;
    private final TimeSource time;
    private final BoundedLog lines;
    private final ReentrantLock lock = new ReentrantLock(); // a leaf
    private volatile TimeSource.@Nullable Timer timer; // written by lock
    private long timerNanos; // by lock; when the timer runs, if there is one
    private volatile boolean closed;

    LongWaits(Engine engine, Cards cards) {
        this.engine = engine;
        this.cards = cards;
        this.time = engine.settings.time;
        lines = new BoundedLog(
                INFO, time, n -> n + " more callers have waited for a lock for " + DurationText.of(LONG));
    }

    /** Notes that a wait began. Runs in every acquire, so it usually reads one field only. */
    void onWaiting(long arrivedNanos) {
        if (timer == null && !closed) {
            arm(arrivedNanos + LONG.toNanos());
        }
    }

    /** One look at the waiters of all names. */
    private final class Check implements NameVisitor {

        /** When the first of the waits that are not long yet began, or {@link #NONE}. */
        private long next = NONE;

        @Override
        public void visit(
                EventLock<?> at,
                @Nullable ActiveLease lease,
                @Nullable Waiter first,
                int waiting,
                @Nullable String holder) {
            long now = time.nanoTime();
            for (Waiter waiter = first; waiter != null; waiter = waiter.after) {
                FollowedWait followed = (FollowedWait) waiter.trace;
                if (followed != null && followed.isLong) {
                    continue;
                }
                if (now - waiter.arrivedNanos < LONG.toNanos()) {
                    next = Math.min(next, waiter.arrivedNanos);
                    continue;
                }
                if (followed == null) {
                    followed = new FollowedWait(null, null, false);
                    waiter.trace = followed;
                }
                followed.isLong = true;
                if (lines.admits(() -> "A wait for a lock that is longer than " + DurationText.of(LONG))) {
                    followed.logged = waiter.describe();
                    String described = holder == null ? null : cards.describe(holder);
                    WaitText text = new WaitText(at, waiter, lease, holder, described, now);
                    String line = text.longWait();
                    at.later(() -> lines.write(line));
                }
            }
        }
    }

    /** Logs how a wait ended, if its beginning was logged. Under the lock of the name. */
    void onEnd(EventLock<?> at, FollowedWait wait, long arrivedNanos, @Nullable String why) {
        if (wait.logged != null) {
            String age = DurationText.rounded(Duration.ofNanos(time.nanoTime() - arrivedNanos));
            String line = wait.logged
                    + (why == null ? " got the " : " did not get the ")
                    + at.described()
                    + (why == null ? " after " + age : " within " + age + ": " + why);
            at.later(() -> lines.write(line));
        }
    }

    void close() {
        closed = true;
        lock.lock();
        try {
            if (timer != null) {
                timer.cancel();
                timer = null;
            }
        } finally {
            lock.unlock();
        }
        lines.flush();
    }

    private void arm(long atNanos) {
        lock.lock();
        try {
            if (timer != null && timerNanos - atNanos <= 0) {
                return;
            }
            if (timer != null) {
                timer.cancel();
            }
            timerNanos = atNanos;
            timer = time.schedule(atNanos - time.nanoTime(), this::check);
        } finally {
            lock.unlock();
        }
    }

    private void check() {
        lock.lock();
        try {
            // Before the check: a waiter that comes during it is seen, or sets the timer.
            timer = null;
        } finally {
            lock.unlock();
        }
        Check check = new Check();
        engine.visitWaits(check);
        long next = check.next;
        if (next != NONE && !closed) {
            arm(Math.max(next + LONG.toNanos(), time.nanoTime() + AGAIN.toNanos()));
        }
    }
}
