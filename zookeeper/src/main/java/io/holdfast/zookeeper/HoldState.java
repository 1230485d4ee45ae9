package io.holdfast.zookeeper;

import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewRequest;
import org.jspecify.annotations.Nullable;

/**
 * Keeps how long a contender's node may stay, and what the engine knows of its hold.
 *
 * <p>Invariant: the promise in a reply is no longer than the proof that the hold rests on, and counts from its sending.
 *
 * <p>Only the work of the contender's {@link SerialQueue} uses the fields that are not final, except {@link #heldIn}.
 */
final class HoldState {

    private static final long NOT_HELD = 0;

    private final StoreAccess store;
    private final Folder folder;
    private final String holderId;
    private final Lifetime lifetime;
    private final HolderWatch watch;

    private long sequence; // of exact settings
    private boolean confirmed; // whether an answer has granted the hold to the engine
    private LastHeld.@Nullable Node first; // what to remember of the node if it was the first when it was granted
    private @Nullable Proof proof; // the last write to a node that waits or has just begun to fit, until it is used

    /** The session in which the name is held, or zero. Read on any thread. */
    private volatile long heldIn = NOT_HELD;

    /**
     * @param onDue runs when the node's time may be over
     * @param onDeleted runs as work of the queue when another client has deleted the node
     */
    HoldState(StoreAccess store, Folder folder, String holderId, SerialQueue work, Runnable onDue, Runnable onDeleted) {
        this.store = store;
        this.folder = folder;
        this.holderId = holderId;
        this.lifetime = new Lifetime(store.time(), onDue);
        this.watch = folder.isPool()
                ? new PoolHolderWatch(store, folder, holderId, work, onDeleted)
                : new SuccessorWatch(store, folder, holderId, work, onDeleted);
    }

    Lifetime lifetime() {
        return lifetime;
    }

    /** Keeps a waiter's node for three polls from now; that of a request that does not wait, for no longer than before. */
    void waiting(AcquireRequest request) {
        if (confirmed) {
            return;
        }
        if (request.queue()) {
            lifetime.last(3 * request.pollMillis());
        } else {
            lifetime.lastAtLeast(0);
        }
    }

    /** Grants an acquire, whose node fits. */
    Granted granted(Session now, OwnNode node, AcquireRequest request, Proof proof, long base) {
        if (!confirmed) {
            lifetime.last(request.leaseMillis());
        } else if (sequence == 0) {
            lifetime.lastAtLeast(request.leaseMillis());
        }
        held(now, node, proof);
        QueueSnapshot queue = proof.queue();
        first = !queue.isEmpty() && queue.holder().equals(holderId) ? node.asLast(proof.stat()) : null;
        return new Granted(base, proof.queue().waiting(), atMost(now, proof, request.leaseMillis(), Granted.AS_ASKED));
    }

    /** Returns whether a later exact setting was already executed. */
    boolean supersedes(RenewRequest request) {
        return request.sequence() < sequence && !request.isLook();
    }

    /** Answers a renewal that was written to the node. */
    RenewReply renewed(Session now, OwnNode node, RenewRequest request, Proof proof) {
        boolean fresh = request.sequence() > sequence;
        sequence = request.isLook() ? sequence : request.sequence();
        if (!request.exact()) {
            lifetime.lastAtLeast(request.leaseMillis());
        } else if (fresh) {
            lifetime.last(request.leaseMillis());
        } else if (lifetime.remainingMillis() < request.leaseMillis()) {
            return new RenewReply.Superseded();
        }
        held(now, node, proof);
        return new Renewed(proof.queue().waiting(), atMost(now, proof, request.leaseMillis(), Renewed.AS_ASKED));
    }

    private void held(Session now, OwnNode node, Proof proof) {
        confirmed = true;
        heldIn = now.id();
        watch.begin(now, node.path(), proof.queue().waiting());
    }

    /** Returns what to remember of the node; null if nodes before it held, too, or nothing was granted. */
    LastHeld.@Nullable Node first() {
        return first;
    }

    /** Notes the create of a node that waits. */
    void made(Proof created) {
        proof = created;
    }

    /**
     * Grants the name to a waiter whose node began to fit. It goes to the next node unless soon confirmed.
     *
     * @param written the write on which the grant rests; null if it takes another one
     */
    void pushed(Session now, OwnNode node, AcquireRequest request, @Nullable Proof written) {
        proof = written;
        lifetime.last(Math.min(request.leaseMillis(), 3 * request.pollMillis()));
        heldIn = now.id();
        watch.begin(now, node.path(), written == null ? 0 : written.queue().waiting());
        store.tell(listener -> listener.granted(folder.name(), holderId));
    }

    /** Returns the last write for a grant, but only once; null if it is too old. */
    @Nullable
    Proof takeProof() {
        Proof made = recentProof();
        proof = null;
        return made == null ? null : made.asOfNow(store.time());
    }

    /** Returns the last write, with the promise that it had; null if it is too old. */
    @Nullable
    Proof recentProof() {
        return proof != null && proof.isFresh(store.time()) ? proof : null;
    }

    void nodeGone() {
        sequence = 0;
        confirmed = false;
        proof = null;
        first = null;
        heldIn = NOT_HELD;
        watch.close();
    }

    /** Returns whether the name is held in this session. May be called on any thread. */
    boolean isIn(long session) {
        return heldIn == session;
    }

    /** Returns how long the hold lasts without a renewal; zero if there is none. May be called on any thread. */
    long remainingMillis() {
        return heldIn == NOT_HELD ? 0 : lifetime.remainingMillis();
    }

    /** Stops all timers for good. May be called on any thread. */
    void stop() {
        lifetime.stop();
        watch.stop();
    }

    private static long atMost(Session now, Proof proof, long askedMillis, long asAsked) {
        long promised = Math.min(proof.promise().millis(), now.longestPromiseMillis());
        return promised >= askedMillis ? asAsked : promised;
    }
}
