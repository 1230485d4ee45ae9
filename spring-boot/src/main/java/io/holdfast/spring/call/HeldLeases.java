package io.holdfast.spring.call;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.MultiLease;
import io.holdfast.spring.declaration.Kind;
import io.holdfast.spring.declaration.Wanted;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * The leases under which the calling thread runs, for nested calls and for {@link CommitGuard}. Only the proxies use
 * this: a lease belongs to its holder, not to a thread.
 *
 * <p>Only its own thread reads a list and adds to it. Any thread may remove an entry: a transaction manager may
 * complete a transaction on another thread. Publishers and coroutines change threads, so their entries are in a context
 * of their own, and on a thread only while it runs their code.
 */
final class HeldLeases {

    /** Whether there is spring-tx, which is optional. */
    static final boolean TRANSACTIONS = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            HeldLeases.class.getClassLoader());

    private static final ThreadLocal<@Nullable List<Entry>> CURRENT = new ThreadLocal<>();

    private HeldLeases() {}

    /**
     * The leases of one call. Its users are that call, the calls nested in it, and the transactions that any of these
     * ran in. The last user to leave releases the leases, and nobody enters afterwards.
     */
    static final class Entry {

        private final LockClient client;
        private final Wanted wanted;
        private final MultiLease leases;
        private final Duration holdAtLeast;
        private final List<Entry> owner;

        /** Starts with the call that acquired the leases. Zero is final: the leases are released, or about to be. */
        private final AtomicInteger users = new AtomicInteger(1);

        private Entry(LockClient client, Wanted wanted, MultiLease leases, Duration holdAtLeast, List<Entry> owner) {
            this.client = client;
            this.wanted = wanted;
            this.leases = leases;
            this.holdAtLeast = holdAtLeast;
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
            if (!isLeftByLast()) {
                return false;
            }
            leases.releaseHoldingAtLeast(holdAtLeast);
            return true;
        }

        /** Removes a user as {@link #leave} does, without a thread that waits. Returns null if others remain. */
        @Nullable
        CompletionStage<Void> leaveAsync() {
            return isLeftByLast() ? leases.releaseHoldingAtLeastAsync(holdAtLeast) : null;
        }

        private boolean isLeftByLast() {
            boolean last = users.getAndUpdate(now -> now == 0 ? 0 : now - 1) == 1;
            if (last) {
                forget();
            }
            return last;
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

    /**
     * Enters the entry that has a lease of the thread on this name, valid or not. Returns null if there is none.
     *
     * @throws IllegalStateException if that lease is not for enough
     */
    static @Nullable Entered enter(LockClient client, Wanted wanted, String name) {
        List<Entry> all = CURRENT.get();
        return all == null ? null : enter(all, client, wanted, name);
    }

    /** Enters one of these entries, if one of them has a lease on this name. */
    static @Nullable Entered enter(List<Entry> entries, LockClient client, Wanted wanted, String name) {
        for (Entry held : entries) {
            for (Lease lease : held.leases.leases()) {
                if (held.client == client
                        && lease.name().equals(name)
                        && held.wanted.covers(wanted, name)
                        && held.enter()) {
                    return new Entered(held, lease);
                }
            }
        }
        return null;
    }

    /** Returns the lease of the calling thread on this name, valid or not. */
    static Lease current(LockClient client, String name) {
        List<Entry> all = CURRENT.get();
        return (all == null ? List.<Entry>of() : all)
                .stream()
                        .filter(held -> held.client == client && held.wanted.kind() == Kind.LOCK)
                        .flatMap(held -> held.leases.leases().stream())
                        .filter(lease -> lease.name().equals(name))
                        .findFirst()
                        .orElseThrow(() -> new IllegalStateException("The thread holds no lock " + name));
    }

    /** @param holdAtLeast for the release by the last user; without effect after {@link Entry#remove} */
    static Entry add(LockClient client, Wanted wanted, MultiLease leases, Duration holdAtLeast) {
        List<Entry> all = CURRENT.get();
        if (all == null) {
            all = new CopyOnWriteArrayList<>();
            CURRENT.set(all);
        }
        Entry entry = new Entry(client, wanted, leases, holdAtLeast, all);
        all.add(entry);
        return entry;
    }

    /** Returns an entry of no thread, for a context. */
    static Entry detached(LockClient client, Wanted wanted, MultiLease leases, Duration holdAtLeast) {
        return new Entry(client, wanted, leases, holdAtLeast, new CopyOnWriteArrayList<>());
    }

    /**
     * Makes these entries of a context those of the calling thread. Not together with its own: the thread may be that
     * of another holder, which completes what the context waits for.
     *
     * @return what to {@link #restore} when the thread leaves the context
     */
    static @Nullable List<Entry> replace(List<Entry> entries) {
        List<Entry> before = CURRENT.get();
        CURRENT.set(new CopyOnWriteArrayList<>(
                entries.stream().filter(entry -> entry.users.get() > 0).toList()));
        return before;
    }

    static void restore(@Nullable List<Entry> before) {
        if (before == null) {
            CURRENT.remove();
        } else {
            CURRENT.set(before);
        }
    }

    /** Returns the leases of the calling thread whose tokens fence, valid or not. */
    static List<Lease> exclusive() {
        List<Entry> all = CURRENT.get();
        return all == null
                ? List.of()
                : all.stream()
                        .flatMap(held -> held.leases.leases().stream())
                        .filter(Lease::isExclusive)
                        .toList();
    }

    /** @throws io.holdfast.LeaseLostException if a lease of the calling thread is lost */
    static void ensureValid() {
        List<Entry> all = CURRENT.get();
        if (all != null) {
            all.forEach(held -> held.leases.ensureValid());
        }
    }
}
