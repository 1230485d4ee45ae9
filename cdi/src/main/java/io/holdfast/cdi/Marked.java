package io.holdfast.cdi;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the annotations of a method say.
 *
 * @param leader null if the method runs on every process
 * @param locks what a call acquires, the outermost first
 */
record Marked(@Nullable LeaderMethod leader, List<LockedMethod> locks) {

    boolean isEmpty() {
        return leader == null && locks.isEmpty();
    }

    /** Returns the work that is done once for each key; null if it is done by each call. */
    @Nullable
    LockedMethod once() {
        return locks.stream().filter(each -> each.once() != null).findFirst().orElse(null);
    }
}
