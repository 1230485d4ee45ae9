package io.holdfast.spring.call;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.MultiLease;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The leases under which the calling thread runs, for nested calls and for {@link CommitGuard}. Only the proxies use
 * this: a lease belongs to its holder, not to a thread.
 *
 * <p>Only its own thread reads a list and adds to it. Any thread may remove an entry: a transaction manager may
 * complete a transaction on another thread.
 */
final class HeldLeases {

    private static final ThreadLocal<@Nullable List<Entry>> CURRENT = new ThreadLocal<>();

    private HeldLeases() {}

    /**
     * The leases of one call. Its users are that call, the calls nested in it, and the transactions that any of these
     * ran in. The last user to leave releases the leases, and nobody enters afterwards.
     */
    static final class Entry {

        private final LockClient client;
        private final MultiLease leases;
        private final Runnable release;
        private final List<Entry> owner;

        /** Starts with the call that acquired the leases. Zero is final: the leases are released, or about to be. */
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

        /** Adds a user. Returns false if the entry has ended: then its leases protect nothing. */
        boolean enter() {
            return users.getAndUpdate(now -> now == 0 ? 0 : now + 1) > 0;
        }

        /**
         * Removes a user, and releases the leases after the last one. Any thread may call it.
         *
         * @return whether this was the last user
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

        /** Ends the entry without a release. The call releases its leases itself, later. */
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

    /** A lease of an entry that the caller has entered and must leave. */
    record Entered(Entry entry, Lease lease) {}

    /** Enters the entry that has a lease of the thread on this name, valid or not. Returns null if there is none. */
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

    /** Adds the leases of a call that releases them itself, after {@link Entry#remove}. */
    static Entry add(LockClient client, MultiLease leases) {
        return add(client, leases, () -> {});
    }

    /** @param release the last user to leave runs it */
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

    /** Returns the leases of the calling thread, valid or not. */
    static List<Lease> all() {
        List<Entry> all = CURRENT.get();
        return all == null
                ? List.of()
                : all.stream().flatMap(held -> held.leases.leases().stream()).toList();
    }

    /** @throws io.holdfast.LeaseLostException if a lease of the calling thread is lost */
    static void ensureValid() {
        List<Entry> all = CURRENT.get();
        if (all != null) {
            all.forEach(held -> held.leases.ensureValid());
        }
    }
}
