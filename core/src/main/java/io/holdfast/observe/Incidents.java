package io.holdfast.observe;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import io.holdfast.engine.ActiveLease;
import io.holdfast.engine.BoundedLog;
import io.holdfast.engine.EngineSettings;
import io.holdfast.engine.Quoted;
import io.holdfast.engine.StoreErrors;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreState;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Logs what an operator must know about a client's leases: each loss, each forgotten lease, and when renewals begin to
 * fail and succeed again. Methods that log are called without the lock of a name, because a log may be slow.
 *
 * <p>Invariant: {@link #failing} is the number of holds whose last renewal failed ({@code Hold.renewalFailing}). An
 * outage begins with the first of them and ends when there are none.
 */
public final class Incidents {

    private final LockStore store;
    private final TimeSource time;
    private final String clientId;
    private final BoundedLog losses;
    private final BoundedLog forgotten;
    private final BoundedLog outages;
    private final BoundedLog recoveries;
    private final ReentrantLock lock = new ReentrantLock(); // a leaf
    private long failing; // by lock
    private long failingNanos; // by lock; since when there are any
    private boolean recovered; // by lock; a hold of the present outage was renewed again

    public Incidents(LockStore store, EngineSettings settings) {
        this.store = store;
        this.time = settings.time;
        this.clientId = settings.clientId;
        String within = " more within " + DurationText.of(BoundedLog.WINDOW);
        losses = new BoundedLog(
                WARNING,
                time,
                n -> n + " more leases were lost within " + DurationText.of(BoundedLog.WINDOW)
                        + " (level DEBUG names them, and a LockListener receives each)");
        forgotten = new BoundedLog(
                WARNING,
                time,
                n -> n + " more leases were found forgotten within " + DurationText.of(BoundedLog.WINDOW)
                        + " (level DEBUG names them)");
        outages = new BoundedLog(WARNING, time, n -> "Renewals began to fail " + n + " times" + within);
        recoveries = new BoundedLog(INFO, time, n -> "Renewals succeeded again " + n + " times" + within);
    }

    /**
     * Logs the loss of a lease.
     *
     * @param ask whether to ask the store for the present holder. Not if the store has just failed to answer: the line
     *     would come late and say no more
     */
    public void reportLoss(ActiveLease lease, String why, boolean ask) {
        String line = lease.describe() + " was lost: " + why;
        if (!losses.admits(() -> line)) {
            return;
        }
        if (ask) {
            store.inspect(lease.name()).whenComplete((state, error) -> losses.write(line + present(state)));
        } else {
            losses.write(line);
        }
    }

    /** Logs a lease that is renewed without end although nothing in this program refers to the user's part of it. */
    public void reportForgotten(ActiveLease lease) {
        Throwable place = lease.origin == null ? null : lease.origin.place();
        forgotten.log(
                () -> lease.describe() + " is held and renewed, but nothing in this program refers to it any more,"
                        + " so nothing will release it (expected: release() or try-with-resources; a program that means"
                        + " to hold the lock to its end keeps the lease in a field"
                        + (place == null
                                ? "; the system property " + EngineSettings.TRACE_LEASES
                                        + "=true adds where the lease was acquired)"
                                : ")"),
                place);
    }

    private String present(@Nullable StoreState state) {
        if (state == null) {
            return "";
        }
        String holder = state.holder();
        if (holder == null) {
            return " (free now)";
        }
        return HolderId.client(holder).equals(clientId)
                ? " (held by this client again)"
                : " (held by " + Quoted.holder(holder) + " now)";
    }

    /** Counts a hold whose renewal failed after one that had not. Returns true if it is the first hold of an outage. */
    public boolean countFailing() {
        lock.lock();
        try {
            if (failing++ > 0) {
                return false;
            }
            failingNanos = time.nanoTime();
            recovered = false;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Counts a hold whose last renewal had failed and that was now renewed or has ended.
     *
     * @return the length of the outage if it is over; null if it continues, or if no hold of it was renewed again
     */
    @Nullable
    public Duration countNoLongerFailing(boolean renewed) {
        lock.lock();
        try {
            recovered |= renewed;
            return --failing > 0 || !recovered ? null : Duration.ofNanos(time.nanoTime() - failingNanos);
        } finally {
            lock.unlock();
        }
    }

    public void logOutage(String name, Throwable cause) {
        outages.log(() -> "A renewal of the lock " + Quoted.name(name)
                + " failed and is tried again while its lease lasts: "
                + StoreErrors.of(cause).getMessage());
    }

    public void logRecovery(Duration lasted) {
        recoveries.log(() -> "Renewals succeed again, after " + DurationText.rounded(lasted));
    }

    /** Logs the counts so far, because the client is closed. */
    public void close() {
        losses.flush();
        forgotten.flush();
        outages.flush();
        recoveries.flush();
    }
}
