package io.holdfast;

import io.holdfast.spi.HolderId;
import io.holdfast.spi.TimeSource;
import java.util.LinkedHashSet;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Warns of holders that are no clients of Holdfast: once for each name, and of a few names in a minute. Where a fleet is
 * migrated from another library, they are expected on every name; elsewhere they are a key that should not be there.
 */
final class ForeignHolders {

    private static final System.Logger LOG = System.getLogger(LockClient.class.getName());
    private static final long PERIOD_NANOS = 60_000_000_000L;
    private static final int IN_A_PERIOD_MAX = 10;
    private static final int REMEMBERED_MAX = 1_000;
    private static final int SHOWN_MAX = 100;

    private final TimeSource time;
    private final ReentrantLock lock = new ReentrantLock();
    private final LinkedHashSet<String> warned = new LinkedHashSet<>(); // by lock; the last names, oldest first
    private long periodNanos; // by lock; when the present period began
    private int inPeriod; // by lock; the warnings since then

    ForeignHolders(TimeSource time) {
        this.time = time;
    }

    /** The store said that this holder has the name. */
    void met(String name, String holder) {
        if (!HolderId.isForeign(holder) || !isToBeTold(name)) {
            return;
        }
        LOG.log(
                System.Logger.Level.WARNING,
                "The lock " + name + " is held by " + shown(holder)
                        + ", which is no client of Holdfast; clients wait until" + " the store ends that hold");
    }

    private boolean isToBeTold(String name) {
        long now = time.nanoTime();
        lock.lock();
        try {
            if (warned.contains(name)) {
                return false;
            }
            if (inPeriod == 0 || now - periodNanos >= PERIOD_NANOS) {
                periodNanos = now;
                inPeriod = 0;
            }
            if (inPeriod == IN_A_PERIOD_MAX) {
                return false;
            }
            inPeriod++;
            warned.add(name);
            if (warned.size() > REMEMBERED_MAX) {
                warned.remove(warned.iterator().next());
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** A foreign value may be anything. */
    private static String shown(String holder) {
        String start = holder.length() <= SHOWN_MAX ? holder : holder.substring(0, SHOWN_MAX) + "...";
        return start.replaceAll("\\p{Cntrl}", "?");
    }
}
