package io.holdfast.spring;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.MultiLease;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The leases under which the calling thread runs now, for nested calls and for the guard of commits. Bookkeeping of the proxies
 * only: the owner is the lease, not the thread.
 *
 * <p>A list is read and added to by its own thread alone. Any thread may take from it: a transaction manager may complete a
 * transaction on another thread than it was begun on.
 */
final class HeldLeases {

    private static final ThreadLocal<@Nullable List<Entry>> CURRENT = new ThreadLocal<>();

    private HeldLeases() {}

    /** What one call of a locked method holds. */
    static final class Entry {

        private final LockClient client;
        private final MultiLease leases;
        private final List<Entry> owner;

        private Entry(LockClient client, MultiLease leases, List<Entry> owner) {
            this.client = client;
            this.leases = leases;
            this.owner = owner;
        }

        /** By any thread. */
        @SuppressWarnings("ReferenceEquality") // this very list
        void remove() {
            owner.remove(this);
            if (owner.isEmpty() && CURRENT.get() == owner) {
                CURRENT.remove();
            }
        }
    }

    /** The lease on this name that the thread runs under, valid or not; null without one. */
    static @Nullable Lease find(LockClient client, String name) {
        List<Entry> all = CURRENT.get();
        if (all != null) {
            for (Entry held : all) {
                for (Lease lease : held.leases.leases()) {
                    if (held.client == client && lease.name().equals(name)) {
                        return lease;
                    }
                }
            }
        }
        return null;
    }

    static Entry add(LockClient client, MultiLease leases) {
        List<Entry> all = CURRENT.get();
        if (all == null) {
            all = new CopyOnWriteArrayList<>();
            CURRENT.set(all);
        }
        Entry entry = new Entry(client, leases, all);
        all.add(entry);
        return entry;
    }

    /** @throws io.holdfast.LeaseLostException if one of them is lost */
    static void ensureValid() {
        List<Entry> all = CURRENT.get();
        if (all != null) {
            all.forEach(held -> held.leases.ensureValid());
        }
    }
}
