package io.holdfast.observe;

import io.holdfast.engine.BoundedLog;
import io.holdfast.engine.Quoted;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.TimeSource;
import java.util.LinkedHashSet;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Warns of holders that are no clients of Holdfast, once for each name. During a migration from another library they
 * are expected on every name; otherwise such a holder is a key that should not be there.
 */
final class ForeignHolders {

    private static final int REMEMBERED_MAX = 1_000;
    private static final int SHOWN_MAX = 100;

    private final BoundedLog lines;
    private final ReentrantLock lock = new ReentrantLock(); // a leaf
    private final LinkedHashSet<String> warned = new LinkedHashSet<>(); // by lock; the last names, oldest first

    ForeignHolders(TimeSource time) {
        lines = new BoundedLog(
                System.Logger.Level.WARNING, time, n -> n + " more locks have a holder that is no client of Holdfast");
    }

    /** Called when the store reports a holder of the name. */
    void onHolder(String name, String holder) {
        if (HolderId.isForeign(holder) && isNew(name)) {
            lines.log(() -> "The lock " + Quoted.name(name) + " is held by " + Quoted.holder(shown(holder))
                    + ", which is no client of Holdfast; clients wait until the store ends that hold");
        }
    }

    void close() {
        lines.flush();
    }

    private boolean isNew(String name) {
        lock.lock();
        try {
            if (!warned.add(name)) {
                return false;
            }
            if (warned.size() > REMEMBERED_MAX) {
                warned.remove(warned.iterator().next());
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** A foreign value may be of any length. */
    private static String shown(String holder) {
        return holder.length() <= SHOWN_MAX ? holder : holder.substring(0, SHOWN_MAX) + "...";
    }
}
