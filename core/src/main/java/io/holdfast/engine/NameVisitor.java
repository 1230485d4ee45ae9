package io.holdfast.engine;

import org.jspecify.annotations.Nullable;

/** Sees what a client holds and waits for, name by name: {@link Engine#visit}. */
@FunctionalInterface
public interface NameVisitor {

    /**
     * Sees one name. Called under the lock of the name, and only for a name with a lease or a waiter.
     *
     * @param lease the lease that is out; null if there is none
     * @param first the first waiter; null if nobody waits
     * @param waiting how many wait
     * @param holder the holder elsewhere, as far as it is known; null with a lease
     */
    void visit(
            EventLock<?> at, @Nullable ActiveLease lease, @Nullable Waiter first, int waiting, @Nullable String holder);
}
