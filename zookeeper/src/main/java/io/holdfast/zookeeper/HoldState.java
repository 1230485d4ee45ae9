package io.holdfast.zookeeper;

import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewRequest;
import org.jspecify.annotations.Nullable;

/**
 * How long a contender's node may stay, and what the engine knows of its hold.
 *
 * <p>Invariant: the promise in a reply is no longer than the proof that the hold rests on, and counts from its sending.
 *
 * <p>All fields that are not final belong to the work of the contender's {@link SerialQueue}, except {@link #heldIn}.
 */
final class HoldState {

    private static final long NOT_HELD = 0;

    private final StoreAccess store;
    private final Folder folder;
    private final String holderId;
    private final Lifetime lifetime;
    private final SuccessorWatch successors;

    private long sequence; // of exact settings
    private boolean confirmed; // whether an answer has granted the hold to the engine
    private @Nullable Proof proof; // from the time when the node became the first, until it is used

    /** The session in which the name is held, or zero. Read on any thread. */
    private volatile long heldIn = NOT_HELD;

    /**
     * Holds nothing yet.
     *
     * @param onDue runs in turn when the node's time may be over
     * @param onDeleted runs in turn when another client has deleted the node
     */
    HoldState(
            StoreAccess store,
            Folder folder,
            String holderId,
            SerialQueue work,
            Runnable onDue,
            Runnable onDeleted) {
        this.store = store;
        this.folder = folder;
        this.holderId = holderId;
        this.lifetime = new Lifetime(store.time(), onDue);
        this.successors = new SuccessorWatch(store, folder, holderId, work, onDeleted);
    }

    Lifetime lifetime() {
        return lifetime;
    }

    /** Keeps the node of a waiter for three polls from now. */
    void waiting(AcquireRequest request) {
        if (!confirmed) {
            lifetime.lastAtLeast(3 * request.pollMillis());
        }
    }

    /** An acquire found or made the node first. */
    Granted granted(Session now, OwnNode node, AcquireRequest request, Proof proof, long base) {
        if (!confirmed) {
            lifetime.last(request.leaseMillis());
        } else if (sequence == 0) {
            lifetime.lastAtLeast(request.leaseMillis());
        }
        held(now, node, proof);
        return new Granted(base, proof.queue().waiting(), atMost(now, proof, request.leaseMillis(), Granted.AS_ASKED));
    }

    /** Returns whether a later exact setting was executed before. */
    boolean supersedes(RenewRequest request) {
        return request.sequence() < sequence && !request.isLook();
    }

    /** A renewal was written to the node. */
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
        successors.begin(now, node.path(), proof.queue().waiting());
    }

    /** The node has become the first. If the engine does not confirm that soon, the lock is for the next node. */
    void pushed(Session now, OwnNode node, AcquireRequest request, Proof written) {
        proof = now.shows(written.promise()) ? written : null;
        lifetime.last(Math.min(request.leaseMillis(), 3 * request.pollMillis()));
        heldIn = now.id();
        successors.begin(now, node.path(), 0);
        store.tell(listener -> listener.granted(folder.name(), holderId));
    }

    /** Returns the write that was made when the node became the first, once; null if it is too old. */
    @Nullable
    Proof takeProof() {
        Proof made = proof;
        proof = null;
        return made != null && made.isFresh(store.time()) ? made.asOfNow(store.time()) : null;
    }

    /** The node is gone. */
    void nodeGone() {
        sequence = 0;
        confirmed = false;
        proof = null;
        heldIn = NOT_HELD;
        successors.close();
    }

    /** Returns whether the name is held in this session. May be called on any thread. */
    boolean isIn(long session) {
        return heldIn == session;
    }

    /** Returns how long the hold lasts if it is not renewed; zero if there is none. May be called on any thread. */
    long remainingMillis() {
        return heldIn == NOT_HELD ? 0 : lifetime.remainingMillis();
    }

    /** Begins no timer any more. May be called on any thread. */
    void stop() {
        lifetime.stop();
        successors.stop();
    }

    private static long atMost(Session now, Proof proof, long askedMillis, long asAsked) {
        long promised = Math.min(proof.promise().millis(), now.longestPromiseMillis());
        return promised >= askedMillis ? asAsked : promised;
    }
}
