package io.holdfast;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The local waiters of one name, first come first served. Guarded by the lock of the name's engine. */
final class WaitQueue {

    /** Waiters compare by identity; a linked set because anybody may leave from the middle. */
    private final LinkedHashSet<Waiter> waiters = new LinkedHashSet<>();

    void add(Waiter waiter) {
        waiters.add(waiter);
    }

    boolean remove(Waiter waiter) {
        return waiters.remove(waiter);
    }

    @Nullable
    Waiter first() {
        return waiters.isEmpty() ? null : waiters.iterator().next();
    }

    boolean isEmpty() {
        return waiters.isEmpty();
    }

    int size() {
        return waiters.size();
    }

    List<Waiter> drain() {
        List<Waiter> all = new ArrayList<>(waiters);
        waiters.clear();
        return all;
    }
}
