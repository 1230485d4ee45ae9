package io.holdfast.engine;

import static java.lang.System.Logger.Level.WARNING;

import io.holdfast.log.Log;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.LockStore;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Knows for how long waiters tolerate a failing store: as the user set it, or as long as the store needs to notice a
 * dead connection and to be answered on a new one, but at least the default.
 */
final class Patience {

    /** Waits out a short restart of a store that notices it at once. */
    private static final Duration DEFAULT = Duration.ofSeconds(5);

    private final @Nullable Duration set;
    private final Supplier<Duration> recovery;
    private final AtomicBoolean warned = new AtomicBoolean();

    /**
     * @param set as the user set it; null for the default
     * @param recovery returns {@link LockStore#recovery}, which can change when a late store is opened
     */
    Patience(@Nullable Duration set, Supplier<Duration> recovery) {
        this.set = set;
        this.recovery = recovery;
    }

    long nanos() {
        if (set != null) {
            return set.toNanos();
        }
        Duration needed = recovery.get();
        return (needed.compareTo(DEFAULT) > 0 ? needed : DEFAULT).toNanos();
    }

    /** Logs once if the setting lets waiters fail while the store is about to recover. */
    void check(LockStore store) {
        Duration needed = recovery.get();
        if (set != null && set.compareTo(needed) < 0 && warned.compareAndSet(false, true)) {
            Log.LOG.log(
                    WARNING,
                    "The store timeout of " + DurationText.of(set) + " is shorter than the " + DurationText.of(needed)
                            + " that " + store.describe() + " may need to notice a dead connection and to answer on a"
                            + " new one, so waiters fail when a connection dies (expected: at least "
                            + DurationText.of(needed) + ", or no storeTimeout, or a shorter command timeout)");
        }
    }
}
