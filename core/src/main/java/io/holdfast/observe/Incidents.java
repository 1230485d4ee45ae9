package io.holdfast.observe;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import io.holdfast.engine.ActiveLease;
import io.holdfast.engine.Engine;
import io.holdfast.engine.EngineSettings;
import io.holdfast.log.BoundedLog;
import io.holdfast.log.Quoted;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreState;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Logs what an operator must know about a client's locks: each loss, each forgotten lease, when renewals begin to fail
 * and succeed again, and each holder that is no client of Holdfast. Methods that log about leases are called without
 * the lock of a name, because a log may be slow.
 *
 * <p>Invariant: {@link #failing} is the number of holds whose last renewal failed ({@code Hold.renewalFailing}). An
 * outage begins with the first of them and ends when there are none.
 */
final class Incidents {

    private static final int FOREIGN_NAMES_MAX = 1_000;
    private static final int FOREIGN_CHARS_MAX = 100;

    private final Engine engine;
    private final TimeSource time;
    private final String clientId;
    private final BoundedLog losses;
    private final BoundedLog forgotten;
    private final BoundedLog outages;
    private final BoundedLog recoveries;
    private final BoundedLog foreign;
    private final ReentrantLock lock = new ReentrantLock(); // a leaf
    private long failing; // by lock
    private long failingNanos; // by lock; since when there are any
    private boolean recovered; // by lock; a hold of the present outage was renewed again
    private final LinkedHashSet<String> foreignNames = new LinkedHashSet<>(); // by lock; the last names, oldest first

    Incidents(Engine engine) {
        this.engine = engine;
        this.time = engine.settings.time;
        this.clientId = engine.settings.clientId;
        String window = DurationText.of(BoundedLog.WINDOW);
        losses = new BoundedLog(
                WARNING,
                time,
                n -> n + " more leases were lost within " + window
                        + " (level DEBUG names them, and a LockListener receives each)");
        forgotten = new BoundedLog(
                WARNING,
                time,
                n -> n + " more leases were found forgotten within " + window + " (level DEBUG names them)");
        outages = new BoundedLog(WARNING, time, n -> "Renewals began to fail " + n + " times more within " + window);
        recoveries = new BoundedLog(INFO, time, n -> "Renewals succeeded again " + n + " times more within " + window);
        foreign = new BoundedLog(WARNING, time, n -> n + " more locks have a holder that is no client of Holdfast");
    }

    /**
     * Logs the loss of a lease.
     *
     * @param ask whether to ask the store for the present holder. Not if the store has just failed to answer: the line
     *     would come late and say no more
     */
    void reportLoss(String name, long fencingToken, String why, boolean ask) {
        String line = ActiveLease.describe(name, fencingToken) + " was lost: " + why;
        if (!losses.admits(() -> line)) {
            return;
        }
        if (ask) {
            engine.store.inspect(name).whenComplete((state, error) -> losses.write(line + present(state)));
        } else {
            losses.write(line);
        }
    }

    /** Logs a lease that is renewed without end although nothing in this program refers to the user's part of it. */
    void reportForgotten(String name, long fencingToken, @Nullable Throwable place) {
        forgotten.log(
                () -> ActiveLease.describe(name, fencingToken)
                        + " is held and renewed, but nothing in this program refers to it any more,"
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
    boolean countFailing() {
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
    Duration countNoLongerFailing(boolean renewed) {
        lock.lock();
        try {
            recovered |= renewed;
            return --failing > 0 || !recovered ? null : Duration.ofNanos(time.nanoTime() - failingNanos);
        } finally {
            lock.unlock();
        }
    }

    void logOutage(String name, StoreException cause) {
        outages.log(() -> "A renewal of the lock " + Quoted.name(name)
                + " failed and is tried again while its lease lasts: "
                + cause.getMessage());
    }

    void logRecovery(Duration lasted) {
        recoveries.log(() -> "Renewals succeed again, after " + DurationText.rounded(lasted));
    }

    /** Returns whether the holder is no client of Holdfast, and the first such holder of the name. */
    boolean isFirstForeign(String name, String holder) {
        if (!HolderId.isForeign(holder)) {
            return false;
        }
        lock.lock();
        try {
            boolean isNew = foreignNames.add(name);
            if (foreignNames.size() > FOREIGN_NAMES_MAX) {
                foreignNames.remove(foreignNames.iterator().next());
            }
            return isNew;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Logs a holder that is no client of Holdfast. During a migration from another library such holders are expected on
     * every name; otherwise such a holder is a key that should not be there.
     */
    void logForeign(String name, String holder) {
        // A foreign value may be of any length.
        String shown = holder.length() <= FOREIGN_CHARS_MAX ? holder : holder.substring(0, FOREIGN_CHARS_MAX) + "...";
        foreign.log(() -> "The lock " + Quoted.name(name) + " is held by " + Quoted.holder(shown)
                + ", which is no client of Holdfast; clients wait until the store ends that hold");
    }

    /** Logs the counts so far, because the client is closed. */
    void close() {
        Stream.of(losses, forgotten, outages, recoveries, foreign).forEach(BoundedLog::flush);
    }
}
