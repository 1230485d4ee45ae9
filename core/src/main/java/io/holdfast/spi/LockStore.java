package io.holdfast.spi;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The remote authority on lock names: which holder id holds each of them.
 *
 * <pre>{@code
 * LockClient locks = LockClient.builder()
 *         .store(context -> new TableLockStore(database, context))      // a store of your own
 *         .build();
 * }</pre>
 *
 * <p><b>What the engine relies on</b>, and what the contract suite in {@code holdfast-testkit} checks:
 *
 * <ul>
 *   <li><b>Exclusion.</b> At any instant of the store's own time, at most one holder id holds a name. A hold ends when
 *       its lease has run out, when it is released, or when it is removed by force.
 *   <li><b>Late and twice is harmless.</b> Any command may be executed later than it was sent, and more than once. No
 *       repetition counts twice, touches the hold of another holder id, or shortens a hold.
 *   <li><b>Holder ids are used once.</b> The engine makes a new one for every remote acquisition ({@link HolderId}).
 *       So a store may address the client that waits under a holder id.
 *   <li><b>Messages are hints,</b> except for those that {@link StoreListener} names. A hint affects how fast a waiter
 *       proceeds, never whether it is correct: a waiter also repeats its acquire at intervals.
 *   <li><b>Errors are distinguished</b> by {@link StoreException.Outcome}; an error is never reported as "busy".
 * </ul>
 *
 * <p>All methods are thread-safe, return at once, and report errors through the returned stage. A stage may complete on
 * any thread, even on the calling one; the engine's dependents of a stage are short and do not block.
 */
public interface LockStore extends AutoCloseable {

    /**
     * Takes the name for a holder id if the name is free or that id holds it. Otherwise, if the request asks for it,
     * puts the id into the store's queue, or stamps its place there as alive.
     *
     * <p>Repeated for an id that holds the name, it lengthens the hold to the full lease and answers the base that the
     * hold has.
     */
    CompletionStage<AcquireReply> acquire(AcquireRequest request);

    /**
     * Returns whether {@link #acquireAll} can take these names by one command, all or none. A store that never can does
     * not override this method; the engine then takes one name after the other.
     *
     * @param names at least two, distinct
     */
    default boolean canAcquireAll(List<String> names) {
        return false;
    }

    /**
     * Takes several names, all or none, by one command that never waits. Nothing changes if one name is busy: another
     * id holds it, or its queue is not empty. For each name a grant is the same as from {@link #acquire} without the
     * queue: safe late and twice, with a hold and a base of its own.
     *
     * @param requests one for each name, without the queue, all for the same length; {@link #canAcquireAll} has
     *     returned true
     */
    default CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
        return CompletableFuture.failedFuture(
                new StoreException(StoreException.Outcome.FATAL, describe() + " takes names one by one", null));
    }

    /** Extends (or, for an exact request, sets) the time a hold has left, if that holder id still holds the name. */
    CompletionStage<RenewReply> renew(RenewRequest request);

    /**
     * Renews several holds, the most urgent first. The answers are independent: a name or node that fails or hangs must
     * not delay the others. A store that can renew many holds by one command overrides this method. Does not throw once
     * an answer was given or may still come.
     *
     * @param answers receives one answer for each request, perhaps before this method returns
     */
    default void renewAll(List<RenewRequest> requests, RenewAnswers answers) {
        for (int i = 0; i < requests.size(); i++) {
            int index = i;
            renew(requests.get(i)).whenComplete((reply, error) -> answers.answered(index, reply, error));
        }
    }

    /**
     * Ends a hold and passes the name to the first waiting client that is alive, if there is one. A request may also put
     * the caller back into the queue, under a new holder id, in the same step.
     */
    CompletionStage<ReleaseReply> release(ReleaseRequest request);

    /**
     * Withdraws a holder id in any state: takes it out of the queue and, if it holds the name, releases the name. For
     * acquisitions whose outcome is unknown or no longer wanted. An acquire of the id may still be under way: the
     * engine withdraws the id again after its answer.
     *
     * @return true if the id held the name
     */
    CompletionStage<Boolean> abandon(String name, String holderId);

    /** Returns what the store knows about a name. For people and tools: the answer is out of date when it arrives. */
    CompletionStage<StoreState> inspect(String name);

    /**
     * Ends the hold on the name without asking its owner, if the expected holder has it. Comparison and end are one
     * step of the store.
     *
     * @param holder the expected holder, as {@link #inspect} shows it; null for whichever has the name
     */
    CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder);

    /**
     * Returns the longest time for which an acquire that failed with an unknown outcome may still be executed. The
     * engine withdraws the holder id once more after that time. A store whose requests carry a time after which they
     * are refused returns that time; other stores return a guess.
     */
    default Duration lateness() {
        return Duration.ofSeconds(5);
    }

    /**
     * Returns the longest time that the store takes to notice a connection that has died in silence, and to be answered
     * on a new one. Waiters tolerate failures for at least that long by default. It may be another time once the store
     * is open; zero if a store cannot tell, or has no connection.
     */
    default Duration recovery() {
        return Duration.ZERO;
    }

    /**
     * Asks whether locks can be taken now, and for the state of the parts of the store; for people, at most every few
     * seconds. Fails if the store does not answer at all.
     *
     * <p>A store overrides this method if it knows more than that it answers.
     *
     * @param name a name that no client locks, for stores that need a name for their command
     */
    default CompletionStage<StoreHealth> health(String name) {
        return inspect(name).thenApply(state -> new StoreHealth(true, Map.of()));
    }

    /** Returns where this store keeps the cards of its clients; empty if it keeps none. */
    default Optional<CardStore> cards() {
        return Optional.empty();
    }

    /**
     * Returns this client's view of the store's pools; empty if the store has none. A pool is a name that several ids
     * may hold at once. It has no connection with the lock of the same name. A lock is a pool of capacity 1.
     *
     * <p>The rule of a pool: all live entries, holders and waiters, stand in the order in which they came. An entry
     * <em>fits</em> if the weights up to and including its own are at most its own {@linkplain AcquireRequest#capacity
     * capacity}. An entry holds when it and every entry before it fit. So nothing overtakes; and an entry that holds
     * keeps its hold, whatever capacity later requests have. Whatever removes an entry (a release, an expiry, a waiter
     * that leaves or has died) serves the queue from its head, for as long as the head fits.
     *
     * <p>The commands of the view are those of a lock, with these differences:
     *
     * <ul>
     *   <li>{@link AcquireReply.Busy} has the time until the first hold ends, at least 1 ms and never without end; the
     *       holder of that hold; and the number of live waiters before the id. {@link PushedGrant#waiting} counts those
     *       who still wait when all that fit were served.
     *   <li>An attempt without the queue is busy if a live waiter is there, even if it would fit beside the holders.
     *   <li>{@link #abandon} of a waiter serves those behind it. {@link #forceRelease} without an expected holder ends
     *       all holds; with one, that hold alone.
     *   <li>{@link StoreListener#contended} goes to the holders when a waiter comes before which nobody waits: to each
     *       of them, at most 64, if its weight is its capacity; otherwise only to a holder that is alone.
     *   <li>The weight of a hold is that of the acquire that made it. A weight below 1 or above its capacity is refused
     *       with {@link StoreException.Outcome#FATAL}, and so is a capacity above {@link AcquireRequest#CAPACITY_MAX}.
     *   <li>{@link #canAcquireAll} is false. {@link #cards} is empty.
     * </ul>
     *
     * <p>The view shares the connections of this store, which is opened and listened to first. Each call returns the
     * same view. The caller calls {@link #listen} of the view before the first command to it; that listener receives
     * the messages about pools, and {@link StoreListener#reconnected}, but not {@link StoreListener#connecting}. {@link
     * #close} of the view does nothing; {@link #close} of this store ends both. Names of the view have up to 1,040 bytes.
     */
    default Optional<LockStore> pools() {
        return Optional.empty();
    }

    /** Returns where this store keeps the records of work that is done once; empty if it keeps none. */
    default Optional<RecordStore> records() {
        return Optional.empty();
    }

    /**
     * Looks at the servers of this store: version, settings that endanger locks, missing rights, clocks, and the keys
     * of one lock. For people, when they set up a store or look for a fault. What cannot be found out is a finding,
     * too.
     *
     * <p>A store overrides this method if it knows more than {@link #health} says.
     *
     * @param name a name whose keys are described; the caller holds it now
     */
    default CompletionStage<List<Finding>> diagnose(String name) {
        return CompletableFuture.completedFuture(List.of());
    }

    /** Registers the one receiver of this store's messages. Called once, before any other command. */
    void listen(StoreListener listener);

    /** Returns one short phrase for messages and logs, without secrets, for example {@code redis://10.0.0.7:6379/0}. */
    String describe();

    /**
     * Leaves a hold: the client is about to close and renews it no more, but the work under it may go on. The store
     * keeps the hold until its lease has run out, also after {@link #close}. Does not throw.
     *
     * <p>A store whose holds end with its connections overrides this method: it keeps the connection, and with it the
     * hold, for as long as {@code inUse} returns true, and lets the hold end then.
     *
     * @param inUse returns whether the work may still run; for any thread, at intervals
     */
    default void leave(String name, String holderId, BooleanSupplier inUse) {}

    /** Closes the connections. The engine has released or {@linkplain #leave left} the holds before. Does not throw. */
    @Override
    void close();
}
