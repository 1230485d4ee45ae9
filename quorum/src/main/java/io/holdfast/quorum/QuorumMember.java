package io.holdfast.quorum;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.Finding;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One of the independent servers of a quorum, as one client sees it. The member has a vote on the holder of a name, and
 * a register for the fencing tokens of the name. It is deliberately smaller than a {@link LockStore}: a member has no
 * queue and never passes a lock on. Members that granted on their own would split their votes among the waiting clients
 * for ever.
 *
 * <p><b>What the quorum relies on:</b>
 *
 * <ul>
 *   <li><b>Atomic.</b> Each command is one step at the member.
 *   <li><b>Late and twice is harmless.</b> As for a {@link LockStore}. Each round of an acquisition has an id of its
 *       own, {@code <client id>:<number>~<round>}.
 *   <li><b>Every vote names its voter</b> ({@link Standing}): a member that has lost its data has another birth.
 *   <li><b>Errors</b> are {@link StoreException}s. A member may answer late or never: the quorum has a much shorter
 *       time limit of its own.
 * </ul>
 *
 * <p>All methods are thread-safe and return at once. Stages may complete on any thread.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/stores/redlock.md">RedLock</a>
 */
public interface QuorumMember extends AutoCloseable {

    /**
     * The standing of a member at the instant of an answer: whether the answer may count.
     *
     * @param birth names the life of the member's data; empty or different after the data were lost
     * @param quarantineMillis how long the member must not vote yet; zero if it may vote
     */
    record Standing(String birth, long quarantineMillis) {}

    /**
     * An attempt to take a name at this member.
     *
     * @param id the id of this round of this acquisition
     * @param leaseMillis how long the hold lasts from the execution on
     * @param sequence the number of exact settings of this hold so far, as in {@link RenewRequest}
     * @param proposal the token to write into the register if the name is granted
     * @param waitMillis if the name is held: how long a release is to wake the client; zero: not at all
     */
    record Take(String name, String id, long leaseMillis, long sequence, long proposal, long waitMillis) {}

    /**
     * The answer to {@link Take}.
     *
     * @param holds whether the id holds the name at this member now
     * @param holder the other id that holds it, for people and for comparison; empty if {@code holds}
     * @param remainingMillis how long the other id's hold lasts; {@link AcquireReply.Busy#NO_EXPIRY} if it has no end
     * @param accepted whether the proposal is in the register; false if not {@code holds}
     * @param register the largest token in the register, after this command
     * @param waiting how many other clients wait to be woken
     */
    record Vote(
            Standing standing,
            boolean holds,
            String holder,
            long remainingMillis,
            boolean accepted,
            long register,
            int waiting) {

        /** Returns the vote of a member at which the id holds the name now. */
        public static Vote granted(Standing standing, boolean accepted, long register, int waiting) {
            return new Vote(standing, true, "", 0, accepted, register, waiting);
        }

        /** Returns the vote of a member at which another id holds the name. */
        public static Vote refused(Standing standing, String holder, long remainingMillis, long register, int waiting) {
            return new Vote(standing, false, holder, remainingMillis, false, register, waiting);
        }
    }

    /**
     * A renewal at this member, with the parameters of {@link RenewRequest}. It never takes a name that the id does not
     * hold.
     */
    record Extension(String name, String id, long leaseMillis, long sequence, boolean exact) {

        /** Returns a renewal that only lengthens the hold. */
        public static Extension extend(String name, String id, long leaseMillis, long sequence) {
            return new Extension(name, id, leaseMillis, sequence, false);
        }

        /** Returns a renewal that sets the time left to exactly this, even if that is shorter. */
        public static Extension set(String name, String id, long leaseMillis, long sequence) {
            return new Extension(name, id, leaseMillis, sequence, true);
        }
    }

    /** The result of a renewal at this member. */
    enum Found {
        /** The id holds the name, for at least the requested time. */
        HELD,
        /** The id holds the name, but nothing changed and nothing is promised: see {@link RenewReply.Superseded}. */
        SUPERSEDED,
        /** No id holds the name. */
        ABSENT,
        /** Another id holds the name. */
        TAKEN
    }

    /** The answer to {@link Extension}. */
    record Extended(Standing standing, Found found, int waiting) {}

    /**
     * The answer to a release.
     *
     * @param wasHeld whether this execution ended the hold
     * @param waiting how many clients wait to be woken
     */
    record Released(Standing standing, boolean wasHeld, int waiting) {}

    /** The answer to {@link #commit}. */
    record Written(Standing standing, boolean accepted, long register) {}

    /**
     * The state of a name as the member knows it.
     *
     * @param holder the id that holds it; empty if none does
     */
    record Seen(Standing standing, String holder, long remainingMillis, TokenRegister register, int waiting) {}

    /**
     * The identity of the member.
     *
     * @param serverId different for two servers, and for two lives of the same process
     * @param dataId the same for two members if one is a replica of the other; empty if unknown
     * @param standing the birth is empty if the member has none, or one of an earlier life of its process
     * @param uptimeMillis how long it has certainly kept its data: since its start, or less if the data may have been
     *     deleted since
     * @param doubts sentences for the log on what makes it a bad member (no persistence, a replica)
     */
    record Identity(String serverId, String dataId, Standing standing, long uptimeMillis, List<String> doubts) {}

    /** Receives a member's messages, which are hints. Methods may be called on any thread; they are short. */
    interface Listener {

        /**
         * Called when the name was released at this member.
         *
         * @param rank how many waiting clients that had arrived earlier received this message before
         */
        void released(String name, int rank);

        /** Called when another client has begun to wait behind this id. */
        void contended(String name, String id);

        /** Called when a client has ended the hold of this id by force, at this member. */
        default void forced(String name, String id) {}

        /** As {@link StoreListener#connecting}, for this member. */
        default void connecting() {}

        /**
         * Called when the connection was lost and is back: messages may be missing, and the member may be another
         * server now.
         */
        void reconnected();
    }

    CompletionStage<Vote> take(Take take);

    CompletionStage<Extended> extend(Extension extension);

    /** Sends several renewals. Returns the stages in the order of the renewals. */
    default List<CompletionStage<Extended>> extendAll(List<Extension> extensions) {
        List<CompletionStage<Extended>> replies = new ArrayList<>(extensions.size());
        for (Extension extension : extensions) {
            replies.add(extend(extension));
        }
        return replies;
    }

    /**
     * Ends the hold of an id, if it has one.
     *
     * @param wake whether to wake the first waiting clients; false when the client withdraws a failed attempt
     */
    CompletionStage<Released> release(String name, String id, boolean wake);

    /** Withdraws this client's wait for the name. */
    CompletionStage<Boolean> leave(String name);

    /**
     * Writes a token into the register if {@link TokenRegister#admits} allows it, even if the id does not hold the
     * name.
     */
    CompletionStage<Written> commit(String name, String id, long token);

    CompletionStage<Seen> inspect(String name);

    /**
     * Ends the hold on the name, as {@link LockStore#forceRelease} does. The answer names the holder with its round.
     *
     * @param holder the expected holder id, without a round, since each round of the acquisition is meant; or another
     *     expected holder, as {@link #inspect} shows it; null for whichever has the name
     */
    CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder);

    CompletionStage<Identity> identify();

    /**
     * Gives the member a birth, if it has none of its present life.
     *
     * @param quarantineMillis how long it must not vote from now on
     * @return its standing afterwards, whichever client gave it the birth
     */
    CompletionStage<Standing> admit(long quarantineMillis);

    /**
     * Examines this member for a person who sets it up or looks for a fault. May take some seconds.
     *
     * @param clockDrift the largest difference between the rates of two clocks that the quorum allows for
     * @return findings whose texts name the member; none by default
     */
    default CompletionStage<List<Finding>> diagnose(double clockDrift) {
        return CompletableFuture.completedFuture(List.of());
    }

    /** Returns what {@link LockStore#recovery} returns, for the connection to this member. */
    default Duration recovery() {
        return Duration.ZERO;
    }

    /** Returns where this member keeps the cards of clients; empty if it keeps none. */
    default Optional<CardStore> cards() {
        return Optional.empty();
    }

    /** Registers the one receiver of messages, or none. */
    void listen(@Nullable Listener listener);

    /** Returns one short phrase without secrets, for example {@code redis://10.0.0.7:6379/0}. */
    String describe();

    /** Closes the connection. Does not throw. */
    @Override
    void close();
}
