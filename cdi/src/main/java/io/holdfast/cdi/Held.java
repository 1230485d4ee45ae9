package io.holdfast.cdi;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A lease under which the calling thread runs, for nested calls. Its users are the call that acquired it, and the
 * transactions that a call under it ran in. The last user to leave releases the lease, and nobody enters afterwards.
 *
 * <p>Only its own thread reads a list and adds to it. Any thread may remove an entry: a transaction manager may
 * complete a transaction on another thread.
 */
final class Held {

    private static final ThreadLocal<@Nullable List<Held>> CURRENT = new ThreadLocal<>();

    private final LockClient client;
    private final LockedMethod method;
    private final Lease lease;
    private final Duration holdAtLeast;
    private final List<Held> owner;

    /** Starts with the call that acquired the lease. Zero is final: the lease is released, or about to be. */
    private final AtomicInteger users = new AtomicInteger(1);

    private Held(LockClient client, LockedMethod method, Lease lease, Duration holdAtLeast, List<Held> owner) {
        this.client = client;
        this.method = method;
        this.lease = lease;
        this.holdAtLeast = holdAtLeast;
        this.owner = owner;
    }

    /** Makes the lease one of the calling thread. */
    static Held add(LockClient client, LockedMethod method, Lease lease, Duration holdAtLeast) {
        List<Held> all = CURRENT.get();
        if (all == null) {
            all = new CopyOnWriteArrayList<>();
            CURRENT.set(all);
        }
        Held held = new Held(client, method, lease, holdAtLeast, all);
        all.add(held);
        return held;
    }

    /**
     * Returns the lease of the calling thread on this name, valid or not, which the caller has entered.
     *
     * @throws IllegalStateException if the lease is for fewer permits
     */
    static @Nullable Held enter(LockClient client, LockedMethod nested, String name) {
        List<Held> all = CURRENT.get();
        if (all != null) {
            for (Held held : all) {
                if (held.client == client && held.covers(nested, name) && held.enter()) {
                    return held;
                }
            }
        }
        return null;
    }

    private boolean covers(LockedMethod nested, String name) {
        if (!lease.name().equals(name) || (nested.permits() == 0) != (method.permits() == 0)) {
            return false;
        }
        if (nested.weight() > method.weight()) {
            throw new IllegalStateException(nested.place() + ": a nested call wants " + nested.weight()
                    + " permits, and its caller holds " + method.weight()
                    + " (expected: at most as many, since a call that holds permits and waits for more can wait for"
                    + " itself)");
        }
        return true;
    }

    /** Returns the leases under which the calling thread runs. */
    static List<Held> ofThread() {
        List<Held> all = CURRENT.get();
        return all == null ? List.of() : all;
    }

    Lease lease() {
        return lease;
    }

    /** Adds a user. Returns false if the lease is released, or about to be. */
    boolean enter() {
        return users.getAndUpdate(now -> now == 0 ? 0 : now + 1) > 0;
    }

    /**
     * Removes a user, and releases the lease after the last one; for others, looks whether the lease is valid. Any
     * thread may call it.
     *
     * @throws io.holdfast.LeaseLostException if the lease is lost
     */
    void leave() {
        int before = users.getAndUpdate(now -> now == 0 ? 0 : now - 1);
        if (before > 1) {
            lease.ensureValid();
        } else if (before == 1) {
            forget();
            lease.releaseHoldingAtLeast(holdAtLeast);
        }
    }

    /** Ends the entry without a release: the caller releases the lease, later. */
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
