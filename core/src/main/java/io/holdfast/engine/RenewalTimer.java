package io.holdfast.engine;

import io.holdfast.log.Log;
import io.holdfast.log.Quoted;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Calls every hold of the client when it is due, to renew it or to end it. One timer serves all holds; those that are
 * due together are renewed together, the most urgent first.
 *
 * <p>While there are holds, the timer also compares the two clocks every second. A suspended machine stops the
 * monotonic clock, by which the timer runs, but neither the wall clock nor the clock of the store. So every hold is due
 * after a forward jump of the wall clock.
 *
 * <p>Lock order: a name's lock may be held when this class's lock is taken, never the other way round.
 */
final class RenewalTimer {

    /** Within which time a jump of the wall clock is noticed. */
    private static final long COMPARE_CLOCKS_NANOS = 1_000_000_000;

    private final LockStore store;
    private final TimeSource time;
    private final LockEvents events;

    /** By how much the wall clock may get ahead of the monotonic clock before that counts as a jump. */
    private final long jumpNanos;

    /** By how much a renewal may come early so that it shares a command with others. */
    private final long earlyNanos;

    private final ReentrantLock lock = new ReentrantLock();
    private final DueQueue holds = new DueQueue(); // by lock
    private TimeSource.@Nullable Timer timer; // by lock
    private long timerNanos; // by lock; when the timer runs, if there is one

    /** When the clocks were last compared; null before the first hold, and after a time without holds. */
    private @Nullable ClockReading compared; // by lock

    RenewalTimer(LockStore store, EngineSettings settings, LockEvents events) {
        this.store = store;
        this.time = settings.time;
        this.events = events;
        this.earlyNanos = settings.renewEarlyNanos();
        this.jumpNanos = settings.rules.driftMarginNanos(settings.leaseNanos);
    }

    /** Makes the hold due at this instant, and at no instant set before. */
    void watch(Hold hold, long atNanos) {
        lock.lock();
        try {
            holds.schedule(hold, atNanos);
            if (timer == null || atNanos - timerNanos < 0) {
                arm(atNanos, ClockReading.now(time));
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Makes the hold not due any more. The timer stays as it is and finds nothing then: moving it at every release
     * would wake the timer thread for each pair of acquire and release.
     */
    void forget(Hold hold) {
        lock.lock();
        try {
            holds.remove(hold);
        } finally {
            lock.unlock();
        }
    }

    int size() {
        lock.lock();
        try {
            return holds.size();
        } finally {
            lock.unlock();
        }
    }

    private void arm(long atNanos, ClockReading now) {
        if (timer != null) {
            timer.cancel();
        }
        ClockReading last = compared;
        if (last == null) {
            compared = now;
            last = now;
        }
        long compareNanos = last.nanos() + COMPARE_CLOCKS_NANOS;
        timerNanos = atNanos - compareNanos < 0 ? atNanos : compareNanos;
        timer = time.schedule(timerNanos - now.nanos(), this::run);
    }

    private void run() {
        // Before the first request is built, hence before any is sent: the new deadlines count from here. One reading
        // serves all, because there may be ten thousand: a hold whose time passes in the meantime ends after its
        // renewal.
        ClockReading sent = ClockReading.now(time);
        List<Hold> due = new ArrayList<>();
        long jumpedNanos = takeDue(sent, due);
        boolean jumped = jumpedNanos > 0;
        if (jumped) {
            events.clockJumped(jumpedNanos);
        }
        List<RenewRequest> requests = new ArrayList<>(due.size());
        List<Hold> asked = new ArrayList<>(due.size());
        for (Hold hold : due) {
            RenewRequest request = hold.engine.onRenewalDue(hold, sent, jumped);
            if (request != null) {
                requests.add(request);
                asked.add(hold);
            }
        }
        if (requests.isEmpty()) {
            return;
        }
        store.renewAll(requests, (index, reply, error) -> {
            Hold hold = asked.get(index);
            try {
                hold.engine.onRenewed(hold, requests.get(index), sent, reply, error);
            } catch (RuntimeException | Error e) {
                // A callback executor that fails, for example, must not keep the other answers from their holds.
                Log.LOG.log(
                        System.Logger.Level.ERROR,
                        "Effect of a renewal of the lock " + Quoted.name(hold.engine.name()) + " failed",
                        e);
            }
        });
    }

    /** Takes the holds that are due: all of them after a jump. Returns as {@link #compareClocks}. */
    private long takeDue(ClockReading now, List<Hold> due) {
        lock.lock();
        try {
            timer = null;
            long jumpedNanos = compareClocks(now);
            // Holds that are due a little later go along, so that locks taken one after the other fill whole commands.
            // Not with a run that only compares the clocks: each hold would be renewed early at each of its times.
            boolean anyDue = holds.size() > 0 && holds.firstNanos() - now.nanos() <= 0;
            long until = now.nanos() + (anyDue ? earlyNanos : 0);
            while (holds.size() > 0 && (jumpedNanos > 0 || holds.firstNanos() - until <= 0)) {
                due.add(holds.takeFirst());
            }
            if (holds.size() > 0) {
                arm(holds.firstNanos(), now);
            } else if (due.isEmpty()) {
                compared = null;
            }
            return jumpedNanos;
        } finally {
            lock.unlock();
        }
    }

    /** By the lock's holder. Returns the length of the wall clock's jump forward; zero if there was none. */
    private long compareClocks(ClockReading now) {
        ClockReading last = compared;
        if (last == null) {
            return 0;
        }
        long byWall = (now.wallMillis() - last.wallMillis()) * 1_000_000;
        long aheadNanos = byWall - (now.nanos() - last.nanos());
        boolean jumped = aheadNanos > jumpNanos;
        if (jumped || now.nanos() - last.nanos() >= COMPARE_CLOCKS_NANOS) {
            compared = now;
        }
        return jumped ? aheadNanos : 0;
    }
}
