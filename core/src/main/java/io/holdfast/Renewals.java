package io.holdfast;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Looks at every hold of the client when its time has come: to renew it, or to end what has run out. One timer for all
 * holds; what is due together is renewed together, the most urgent first.
 *
 * <p>Lock order: a name's lock may be held when this class's lock is taken, never the other way round.
 */
final class Renewals {

    private final LockStore store;
    private final TimeSource time;

    /** By how much a renewal may come early so that it shares a command with others. */
    private final long earlyNanos;

    private final ReentrantLock lock = new ReentrantLock();
    private final DueQueue holds = new DueQueue(); // by lock
    private TimeSource.@Nullable Timer timer; // by lock
    private long timerNanos; // by lock; when the timer runs, if there is one

    Renewals(LockStore store, EngineSettings settings) {
        this.store = store;
        this.time = settings.time;
        this.earlyNanos = settings.renewEarlyNanos();
    }

    /** Looks at the hold at this instant, instead of any set before. */
    void watch(Hold hold, long atNanos) {
        lock.lock();
        try {
            holds.schedule(hold, atNanos);
            if (timer == null || atNanos - timerNanos < 0) {
                arm(atNanos);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Does not look at the hold any more. The timer stays as it is and finds nothing then: to move it at every release
     * would cost a wake-up of the timer thread for each pair of acquire and release.
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

    private void arm(long atNanos) {
        if (timer != null) {
            timer.cancel();
        }
        timerNanos = atNanos;
        timer = time.schedule(atNanos - time.nanoTime(), this::run);
    }

    private void run() {
        List<Hold> due = takeDue();
        List<RenewRequest> requests = new ArrayList<>(due.size());
        List<Hold> asked = new ArrayList<>(due.size());
        // Before the first request is built, hence before any is sent: the new deadlines count from here. One reading
        // for all, because there may be very many: a hold whose time passes meanwhile is renewed in vain, and ends
        // right after.
        LeaseRules.Sent sent = LeaseRules.Sent.now(time);
        for (Hold hold : due) {
            RenewRequest request = hold.engine.lookAt(hold, sent);
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
                hold.engine.renewed(hold, requests.get(index), sent, reply, error);
            } catch (RuntimeException | Error e) {
                // A callback executor that fails, for example: the other answers must not be lost by that.
                Log.LOG.log(
                        System.Logger.Level.ERROR,
                        "Effect of a renewal of the lock " + Quoted.name(hold.engine.name()) + " failed",
                        e);
            }
        });
    }

    private List<Hold> takeDue() {
        List<Hold> due = new ArrayList<>();
        lock.lock();
        try {
            timer = null;
            // Those due a little later go along: locks taken one after the other fill whole commands this way.
            long until = time.nanoTime() + earlyNanos;
            Hold next = holds.first();
            while (next != null && holds.firstNanos() - until <= 0) {
                holds.remove(next);
                due.add(next);
                next = holds.first();
            }
            if (next != null) {
                arm(holds.firstNanos());
            }
        } finally {
            lock.unlock();
        }
        return due;
    }
}
