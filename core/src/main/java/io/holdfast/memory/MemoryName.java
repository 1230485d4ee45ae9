package io.holdfast.memory;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreState;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One name at the in-process store: its holder and its queue. The reference for what the Redis scripts do.
 *
 * <p>All calls are made under the server's lock.
 */
final class MemoryName {

    /** A waiting holder id. It is alive if it was stamped within the last three of its poll intervals. */
    private record Entry(AcquireRequest request, long stampNanos) {

        boolean isAlive(long now) {
            return now - stampNanos <= 3 * request.pollMillis() * 1_000_000;
        }
    }

    private final MemoryLockStore.Server server;
    private final String name;

    private @Nullable String holder; // may have expired: see holder()
    private long base;
    private long expiresNanos;
    private long sequence;

    /** In the order of arrival. Never contains the holder. */
    private final Map<String, Entry> queue = new LinkedHashMap<>();

    MemoryName(MemoryLockStore.Server server, String name) {
        this.server = server;
        this.name = name;
    }

    boolean isFree() {
        dropDead();
        return holder() == null && queue.isEmpty();
    }

    /** Returns whether this id holds the name, or no id holds it or waits for it. */
    boolean isFreeFor(String holderId) {
        return holderId.equals(holder()) || isFree();
    }

    AcquireReply acquire(AcquireRequest request) {
        String asker = request.holderId();
        if (asker.equals(holder())) {
            // A late repetition must not lengthen the hold after an exact setting, which was sent after it.
            if (sequence == 0) {
                extend(request.leaseMillis());
            }
            return new Granted(base, waiting());
        }
        if (holder() == null) {
            grantNext(asker);
            if (holder() == null) {
                queue.remove(asker);
                hold(asker, request.leaseMillis());
                return new Granted(base, waiting());
            }
        }
        String held = requireNonNull(holder());
        dropDead();
        if (request.queue()) {
            boolean first = queue.isEmpty();
            // An entry that is there keeps its place.
            queue.put(asker, new Entry(request, server.nanoTime()));
            if (first) {
                server.send(held, client -> client.contended(name, held));
            }
        }
        return new Busy(remainingMillis(), ahead(asker), held);
    }

    RenewReply renew(RenewRequest request) {
        if (!request.holderId().equals(holder())) {
            return new RenewReply.Gone();
        }
        if (request.isLook()) {
            return new RenewReply.Renewed(waiting());
        }
        if (request.sequence() < sequence) {
            return new RenewReply.Superseded();
        }
        // A plain renewal uses up the number, too: a later setting with the same number must not shorten the hold.
        boolean fresh = request.sequence() > sequence;
        sequence = request.sequence();
        long leaseNanos = request.leaseMillis() * 1_000_000;
        if (!request.exact()) {
            extend(request.leaseMillis());
        } else if (fresh) {
            expiresNanos = server.nanoTime() + leaseNanos;
        } else if (expiresNanos - server.nanoTime() < leaseNanos) {
            // The setting was executed before and time has passed since, so the full time cannot be promised.
            return new RenewReply.Superseded();
        }
        return new RenewReply.Renewed(waiting());
    }

    ReleaseReply release(ReleaseRequest request) {
        if (!request.holderId().equals(holder())) {
            return ReleaseReply.notHeld();
        }
        holder = null;
        AcquireRequest requeue = request.requeue();
        if (requeue != null) {
            queue.put(requeue.holderId(), new Entry(requeue, server.nanoTime()));
            return ReleaseReply.requeued(acquire(requeue));
        }
        grantNext(null);
        return ReleaseReply.released();
    }

    boolean abandon(String holderId) {
        queue.remove(holderId);
        return release(ReleaseRequest.of(name, holderId)).wasHeld();
    }

    ForceReply forceRelease(@Nullable String expected) {
        String held = holder();
        if (held == null) {
            return new ForceReply.Free();
        }
        if (expected != null && !expected.equals(held)) {
            return new ForceReply.HeldBy(held);
        }
        server.send(held, client -> client.forced(name, held));
        abandon(held);
        return new ForceReply.Ended(held);
    }

    StoreState inspect() {
        String held = holder();
        return held == null ? StoreState.free(waiting()) : new StoreState(held, remainingMillis(), base, waiting());
    }

    /**
     * Grants the free name to the first live entry whose client is connected, with a short lease: if the client does
     * not use it, the next client does not wait for long. Stops at the asker, which is granted by the reply.
     */
    private void grantNext(@Nullable String asker) {
        long now = server.nanoTime();
        Iterator<Entry> entries = queue.values().iterator();
        while (entries.hasNext()) {
            Entry entry = entries.next();
            String id = entry.request.holderId();
            if (id.equals(asker)) {
                return;
            }
            entries.remove();
            if (entry.isAlive(now) && server.isConnected(id)) {
                hold(id, Math.min(entry.request.leaseMillis(), 3 * entry.request.pollMillis()));
                PushedGrant grant = new PushedGrant(
                        name,
                        id,
                        base,
                        queue.size(),
                        (expiresNanos - now) / 1_000_000,
                        entry.request.nonce(),
                        (now - entry.stampNanos) / 1_000_000,
                        PushedGrant.ALWAYS);
                server.send(id, client -> client.granted(grant));
                return;
            }
        }
    }

    private void hold(String holderId, long leaseMillis) {
        holder = holderId;
        base = server.nextBase();
        sequence = 0;
        expiresNanos = server.nanoTime() + leaseMillis * 1_000_000;
    }

    private void extend(long leaseMillis) {
        expiresNanos = Math.max(expiresNanos, server.nanoTime() + leaseMillis * 1_000_000);
    }

    /** Returns the holder, unless its time has run out. */
    private @Nullable String holder() {
        if (holder != null && server.nanoTime() - expiresNanos >= 0) {
            holder = null;
        }
        return holder;
    }

    private long remainingMillis() {
        return Math.max(1, (expiresNanos - server.nanoTime()) / 1_000_000);
    }

    private int waiting() {
        dropDead();
        return queue.size();
    }

    private int ahead(String holderId) {
        long ahead =
                queue.keySet().stream().takeWhile(id -> !id.equals(holderId)).count();
        return (int) ahead;
    }

    private void dropDead() {
        long now = server.nanoTime();
        queue.values().removeIf(entry -> !entry.isAlive(now));
    }
}
