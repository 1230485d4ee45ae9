package io.holdfast.engine;

import io.holdfast.ClientCard;
import io.holdfast.LockListener;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Receives what happens to the locks of a client, each event once. Nothing that a receiver does changes what a lock
 * does.
 *
 * <p>A method with an {@link EventLock} is called under that lock, in the order of the decisions: what may be slow, or
 * runs code of users, belongs into {@link EventLock#later}. The arguments are facts and not objects of the engine, so
 * that an event that nobody observes allocates nothing.
 */
public interface LockEvents {

    /** Makes the receiver of an engine that is being made: its settings and callbacks are there, its store is not. */
    @FunctionalInterface
    interface Opener {

        LockEvents open(Engine engine);
    }

    /** A wait as its observers follow it, from {@link #asking} on. */
    interface WaitTrace {

        /** Returns the caller's trace in the form {@code traceparent}; null if there is none. */
        @Nullable
        String traceParent();

        /**
         * The caller waits for the end of a lease of this client. Under the name's lock.
         *
         * @param traceParent the trace in which that lease was acquired
         */
        void waitsForOwn(String holderId, @Nullable String traceParent);

        /**
         * The caller waits for the end of this hold, perhaps the same as before; null if it is not known. Under the
         * name's lock.
         */
        void waitsFor(@Nullable String holderId);

        /** The caller receives the outcome. Called by the thread that waited, or that completes the stage. */
        void onDelivered();
    }

    /** Sees what a client holds and waits for, name by name: {@link Engine#visit}. */
    @FunctionalInterface
    interface NameVisitor {

        /**
         * Sees one name. Called under the lock of the name, and only for a name with a lease or a waiter.
         *
         * @param lease the lease that is out; null if there is none
         * @param first the first waiter; null if nobody waits
         * @param waiting how many wait
         * @param holder the holder elsewhere, as far as it is known; null with a lease
         */
        void visit(
                EventLock<?> at,
                @Nullable ActiveLease lease,
                @Nullable Waiter first,
                int waiting,
                @Nullable String holder);
    }

    /** The engine is made: from now on the receiver may use its store. */
    void begin();

    /** The engine is closed. The stage completes when the receiver no longer uses the store. */
    CompletionStage<Void> close();

    // --- waits ---

    /**
     * A caller asks for a lock. Called by the thread that asks, without a lock.
     *
     * @param once whether the caller makes one attempt, which is no wait
     * @return the wait as observers follow it; null if none does
     */
    @Nullable
    WaitTrace asking(String name, boolean once);

    /** A caller waits, because the lock could not be had at once. */
    void waiting(long arrivedNanos);

    /** Returns whether anybody wants to know the holder that a waiter waits for. */
    boolean followsHolders();

    /**
     * A caller has the lock.
     *
     * @param wait what {@link #asking} returned for it
     * @param handedOn whether another caller of this client had the hold before or has it, too, so that no command was
     *     sent
     * @param waiting how many callers of this client wait now
     * @param by the thread that waited; null for a stage
     */
    void acquired(
            EventLock<?> at,
            @Nullable WaitTrace wait,
            long fencingToken,
            long arrivedNanos,
            long grantedNanos,
            boolean handedOn,
            int waiting,
            @Nullable Thread by);

    /** A wait ended without the lock. */
    void notAcquired(
            EventLock<?> at, @Nullable WaitTrace wait, long arrivedNanos, LockListener.Outcome how, String why);

    // --- leases ---

    void released(EventLock<?> at, long fencingToken, long grantedNanos);

    /**
     * A lease was lost.
     *
     * @param answered whether the store answers, and can be asked for the present holder
     */
    void lost(EventLock<?> at, long fencingToken, long grantedNanos, String why, boolean answered);

    /**
     * A close of the client leaves the hold of a lease at the store, to the work under it.
     *
     * @param lease to be shown as a {@link NameVisitor} sees it
     */
    void left(ActiveLease lease);

    /**
     * A renewal failed.
     *
     * @param first whether the renewal before this one had not failed
     */
    void renewalFailed(EventLock<?> at, boolean first, StoreException cause);

    /**
     * Renewals of a hold no longer fail.
     *
     * @param renewed whether that is because one succeeded; false if the hold is over
     */
    void renewalRecovered(EventLock<?> at, boolean renewed);

    /**
     * A lease is renewed without end, and no user can release it.
     *
     * @param place where it was acquired, if that is known
     */
    void forgotten(EventLock<?> at, long fencingToken, @Nullable Throwable place);

    /**
     * The store named the holder of a lock: another client, or a foreign program.
     *
     * @param waits whether a caller waits for the end of that hold
     */
    void holderSeen(EventLock<?> at, String holder, boolean waits);

    // --- of the client ---

    /**
     * Renewals are sent together. Returns answers that pass on to the given ones, and are observed.
     *
     * @param shown makes the name that observers see from that of a request
     */
    RenewAnswers renewing(List<RenewRequest> requests, UnaryOperator<String> shown, RenewAnswers answers);

    /**
     * A command failed.
     *
     * @param name the lock name, or one of them
     */
    void storeFailed(String command, String name, Throwable error);

    /** The store's connection was lost and is back. */
    void reconnected();

    /** The wall clock got ahead of the monotonic clock. */
    void clockJumped(long byNanos);

    // --- what the engine asks ---

    /** Describes a holder as well as it is known here, for a message. */
    String describe(String holder);

    /** Returns the card of the client of a holder id, if there is one. Does not fail: a card is an extra. */
    CompletionStage<Optional<ClientCard>> cardOf(@Nullable String holder);

    /** Returns the cards of all clients, the most recently heard first; empty if the store keeps none. */
    CompletionStage<List<ClientCard>> cards();
}
