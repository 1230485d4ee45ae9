package io.holdfast.spring.call;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.MultiLease;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The leases under which the calling thread runs now, for nested calls and for the guard of commits. Bookkeeping of the proxies
 * only: the owner is the lease, not the thread.
 *
 * <p>A list is read and added to by its own thread alone. Any thread may take from it: a transaction manager may complete a
 * transaction on another thread than it was begun on.
 */
public final class HeldLeases {

    private static final ThreadLocal<@Nullable List<Entry>> CURRENT = new ThreadLocal<>();

    private HeldLeases() {}

    /**
     * What one call of a locked method holds, and who needs it: that call, the calls nested in it, and the transactions that any
     * of these ran in. None of them must see it released; so whoever is the last to leave releases, and nobody enters after that.
     */
    static final class Entry {

        private final LockClient client;
        private final MultiLease leases;
        private final Runnable release;
        private final List<Entry> owner;

        /** Begins with the call that took the leases. Zero is for good: they are released, or about to be. */
        private final AtomicInteger users = new AtomicInteger(1);

        private Entry(LockClient client, MultiLease leases, Runnable release, List<Entry> owner) {
            this.client = client;
            this.leases = leases;
            this.release = release;
            this.owner = owner;
        }

        MultiLease leases() {
            return leases;
        }

        /** False if it has ended: then the leases are no protection. */
        boolean enter() {
            return users.getAndUpdate(now -> now == 0 ? 0 : now + 1) > 0;
        }

        /**
         * By any thread, once for each entering. The last one releases.
         *
         * @return whether this was the last one
         * @throws io.holdfast.LeaseLostException if the release finds a lease lost
         */
        boolean leave() {
            if (users.getAndUpdate(now -> now == 0 ? 0 : now - 1) != 1) {
                return false;
            }
            forget();
            release.run();
            return true;
        }

        /** For a call that ends on its own thread, and whose leases are released later, by itself. */
        void remove() {
            users.set(0);
            forget();
        }

        @SuppressWarnings("ReferenceEquality") // this very list
        private void forget() {
            owner.remove(this);
            if (owner.isEmpty() && CURRENT.get() == owner) {
                CURRENT.remove();
            }
        }
    }

    /** A lease of an entry that was entered, and has to be left. */
    record Entered(Entry entry, Lease lease) {}

    /** Enters what the thread holds on this name, valid or not; null if there is nothing. */
    static @Nullable Entered enter(LockClient client, String name) {
        List<Entry> all = CURRENT.get();
        if (all != null) {
            for (Entry held : all) {
                for (Lease lease : held.leases.leases()) {
                    if (held.client == client && lease.name().equals(name) && held.enter()) {
                        return new Entered(held, lease);
                    }
                }
            }
        }
        return null;
    }

    /** Of a call that releases its leases itself, after {@link Entry#remove}. */
    static Entry add(LockClient client, MultiLease leases) {
        return add(client, leases, () -> {});
    }

    /** @param release what the last one to leave runs */
    static Entry add(LockClient client, MultiLease leases, Runnable release) {
        List<Entry> all = CURRENT.get();
        if (all == null) {
            all = new CopyOnWriteArrayList<>();
            CURRENT.set(all);
        }
        Entry entry = new Entry(client, leases, release, all);
        all.add(entry);
        return entry;
    }

    /** @throws io.holdfast.LeaseLostException if one of them is lost */
    public static void ensureValid() {
        List<Entry> all = CURRENT.get();
        if (all != null) {
            all.forEach(held -> held.leases.ensureValid());
        }
    }
}
