package io.holdfast.spring;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.MultiLease;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The leases under which the calling thread runs now, for nested calls and for the guard of commits. Bookkeeping of the proxies
 * only: the owner is the lease, not the thread.
 */
final class HeldLeases {

    private record Held(LockClient client, MultiLease leases) {}

    private static final ThreadLocal<@Nullable List<Held>> CURRENT = new ThreadLocal<>();

    private HeldLeases() {}

    /** The lease on this name that the thread runs under, valid or not; null without one. */
    static @Nullable Lease find(LockClient client, String name) {
        List<Held> all = CURRENT.get();
        if (all != null) {
            for (Held held : all) {
                for (Lease lease : held.leases().leases()) {
                    if (held.client() == client && lease.name().equals(name)) {
                        return lease;
                    }
                }
            }
        }
        return null;
    }

    static void add(LockClient client, MultiLease leases) {
        List<Held> all = CURRENT.get();
        if (all == null) {
            all = new ArrayList<>(1);
            CURRENT.set(all);
        }
        all.add(new Held(client, leases));
    }

    @SuppressWarnings("ReferenceEquality") // this very group
    static void remove(MultiLease leases) {
        List<Held> all = CURRENT.get();
        if (all != null) {
            all.removeIf(held -> held.leases() == leases);
            if (all.isEmpty()) {
                CURRENT.remove();
            }
        }
    }

    /** @throws io.holdfast.LeaseLostException if one of them is lost */
    static void ensureValid() {
        List<Held> all = CURRENT.get();
        if (all != null) {
            all.forEach(held -> held.leases().ensureValid());
        }
    }
}
