package io.holdfast.quorum;

import io.holdfast.quorum.QuorumMember.Seen;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.Finding;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreHealth;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The store made of members. Beside the connections it keeps one entry for each acquisition under way and one for each
 * hold, with the id under which the members know it.
 *
 * <p>Invariant: while a majority may have granted a claim of this client, that claim is in {@link #running} or in
 * {@link #holds}, or a release of it was sent to all members. So nothing is filled in after its release, and no vote is
 * forgotten.
 *
 * <p>Nothing begins for an id after its withdrawal: an acquisition that was requested before is in {@link #running},
 * where the withdrawal finds it, or waits for the acquisition that is there.
 *
 * <p>A hold is granted, renewed and ended by a majority. What a minority still has of it is ended in the background.
 */
final class QuorumLockStore implements LockStore, Acquisition.Registry {

    /** How long this client leaves a released lock to waiting clients. */
    private static final long GIVE_WAY_MILLIS = 20;

    private final Members members;
    private final Examinations examinations;
    private final Wakeups wakeups;
    private final QuorumCompensation compensation;
    private final ClaimRounds rounds;
    private final QuorumRenewal renewal;
    private final ProposalClock proposals;
    private final Map<String, Acquisition> running = new ConcurrentHashMap<>();
    private final Map<String, QuorumHold> holds = new ConcurrentHashMap<>();

    /**
     * By name: the holder id that asked last and waits for a release. The members know waiting clients, not ids. So the
     * client's wait may end only with the withdrawal of that id.
     */
    private final Map<String, String> waiting = new ConcurrentHashMap<>();

    private volatile boolean closed;

    QuorumLockStore(Members members, Examinations examinations, Wakeups wakeups) {
        this.members = members;
        this.examinations = examinations;
        this.wakeups = wakeups;
        this.compensation = new QuorumCompensation(members);
        this.rounds = new ClaimRounds(members, compensation);
        this.renewal = new QuorumRenewal(members, rounds, this::gone);
        this.proposals = new ProposalClock(members.time());
        wakeups.onForced(this::forced);
    }

    // --- for acquisitions ---

    @Override
    public void held(String holderId, QuorumHold hold) {
        holds.put(holderId, hold);
    }

    @Override
    public void finished(Acquisition acquisition, boolean waits) {
        AcquireRequest request = acquisition.request;
        if (!waits) {
            waiting.remove(request.name(), request.holderId());
        }
        running.remove(request.holderId(), acquisition);
    }

    // --- commands ---

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        Acquisition acquisition = newAcquisition(request);
        Acquisition other = running.putIfAbsent(request.holderId(), acquisition);
        if (other == null) {
            return begin(acquisition);
        }
        // The second waits for the first, whose answer would otherwise promise a time counted from the second.
        return other.outcome
                .handle((reply, error) -> other.isUnwanted())
                .thenCompose(withdrawn ->
                        withdrawn ? CompletableFuture.completedFuture(Acquisition.NOT_ASKED_FOR) : acquire(request));
    }

    private Acquisition newAcquisition(AcquireRequest request) {
        return new Acquisition(this, proposals, members, rounds, request);
    }

    /** Starts an acquisition that is in {@link #running} already. */
    private CompletionStage<AcquireReply> begin(Acquisition acquisition) {
        AcquireRequest request = acquisition.request;
        StoreException refusal = refusal(request.leaseMillis());
        if (refusal != null) {
            acquisition.fail(refusal);
            return acquisition.outcome;
        }
        if (acquisition.isUnwanted()) {
            acquisition.done(Acquisition.NOT_ASKED_FOR);
            return acquisition.outcome;
        }
        QuorumHold hold = holds.get(request.holderId());
        if (hold == null) {
            if (request.queue()) {
                waiting.put(request.name(), request.holderId());
            }
            acquisition.start();
            return acquisition.outcome;
        }
        // A caller that waits for the outcome handles the hold.
        acquisition.done(AcquireReply.Granted.withoutPromise(hold.base()));
        return acquireAgain(request, hold);
    }

    /** Extends the hold of an id that acquires again, by a renewal with the lowest sequence number. */
    private CompletionStage<AcquireReply> acquireAgain(AcquireRequest request, QuorumHold hold) {
        RenewRequest renewal = RenewRequest.extend(request.name(), request.holderId(), request.leaseMillis(), 0);
        return renew(renewal).thenCompose(reply -> {
            if (reply instanceof RenewReply.Gone) {
                return acquire(request);
            }
            if (reply instanceof RenewReply.Renewed renewed) {
                return CompletableFuture.completedFuture(new AcquireReply.Granted(hold.base(), renewed.waiting()));
            }
            // A later setting was executed: the id holds, but it is not known for how long.
            return CompletableFuture.completedFuture(AcquireReply.Granted.withoutPromise(hold.base()));
        });
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return RenewAnswers.single(answers -> renewAll(List.of(request), answers));
    }

    @Override
    public void renewAll(List<RenewRequest> requests, RenewAnswers answers) {
        List<QuorumRenewal.Due> due = new ArrayList<>();
        List<Integer> places = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            RenewRequest request = requests.get(i);
            StoreException refusal = refusal(request.leaseMillis());
            QuorumHold hold = holds.get(request.holderId());
            if (refusal != null) {
                answers.answered(i, null, refusal);
            } else if (hold == null) {
                answers.answered(i, new RenewReply.Gone(), null);
            } else {
                due.add(new QuorumRenewal.Due(request, hold));
                places.add(i);
            }
        }
        renewal.renewAll(due, (index, reply, error) -> answers.answered(places.get(index), reply, error));
    }

    /** Ends a hold that a majority does not have, so that the rest of it at a minority does not keep others out. */
    private void gone(QuorumHold hold) {
        holds.remove(Claim.holderOf(hold.claim().id), hold);
        var unused = rounds.release(hold.claim());
    }

    /**
     * A member says that the hold of an id was ended there by force. The engine receives the message of a majority only:
     * a renewal before then would find the hold at the others, and take the name again where it was ended.
     */
    private void forced(Seat seat, String id) {
        String holderId = Claim.holderOf(id);
        QuorumHold hold = holds.get(holderId);
        if (hold != null
                && hold.claim().id.equals(id)
                && hold.claim().forcedAt(seat)
                        >= Members.majority(members.seats().size())) {
            wakeups.tell(listener -> listener.forced(hold.claim().name, holderId));
        }
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        QuorumHold hold = holds.remove(request.holderId());
        if (hold == null) {
            return CompletableFuture.completedFuture(ReleaseReply.notHeld());
        }
        Acquisition next = toFollow(request.requeue());
        return rounds.release(hold.claim()).thenCompose(ended -> {
            boolean wasHeld = ended.ending() == Verdicts.Ending.HELD;
            if (next != null && wasHeld && ended.waiting() == 0) {
                return begin(next).thenApply(reply -> ReleaseReply.requeued(reply));
            }
            if (next != null) {
                next.done(Acquisition.NOT_ASKED_FOR);
            }
            if (ended.ending() == Verdicts.Ending.UNKNOWN) {
                return CompletableFuture.failedFuture(new StoreException(
                        StoreException.Outcome.UNKNOWN,
                        "Too few members of " + members.description() + " have answered the release",
                        null));
            }
            if (next == null || !wasHeld) {
                return CompletableFuture.completedFuture(ReleaseReply.of(wasHeld));
            }
            // There is no queue at whose end this client could wait, so it leaves the lock to the others for a while.
            long later = GIVE_WAY_MILLIS + members.settings().random.applyAsLong(GIVE_WAY_MILLIS);
            return CompletableFuture.completedFuture(
                    ReleaseReply.requeued(new AcquireReply.Busy(later, 0, "(left free for other clients)")));
        });
    }

    /** Registers the acquisition that follows a release, before the release is sent: a withdrawal must find it. */
    private @Nullable Acquisition toFollow(@Nullable AcquireRequest requeue) {
        if (requeue == null) {
            return null;
        }
        Acquisition next = newAcquisition(requeue);
        running.put(requeue.holderId(), next);
        return next;
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        Acquisition acquisition = running.get(holderId);
        if (acquisition != null) {
            acquisition.unwanted();
            return acquisition.outcome.handle((reply, error) -> true).thenCompose(over -> abandon(name, holderId));
        }
        CompletionStage<Boolean> left =
                isLastOfItsClient(name, holderId) ? rounds.leave(name) : CompletableFuture.completedFuture(true);
        QuorumHold hold = holds.remove(holderId);
        if (hold == null) {
            return left.thenApply(done -> false);
        }
        return rounds.release(hold.claim()).thenApply(ended -> ended.ending() == Verdicts.Ending.HELD);
    }

    /** Returns whether no other id of this client has begun to wait for the name after this id. */
    private boolean isLastOfItsClient(String name, String holderId) {
        waiting.remove(name, holderId);
        return !waiting.containsKey(name);
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return Round.<Seen, StoreState>run(
                        members, seat -> seat.send(member -> member.inspect(name)), Seen::standing, Verdicts::seen)
                .thenApply(QuorumLockStore::shown);
    }

    private static StoreState shown(StoreState state) {
        String holder = state.holder();
        return holder == null
                ? state
                : new StoreState(Claim.holderOf(holder), state.remainingMillis(), state.base(), state.waiting());
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return Round.<ForceReply, ForceReply>run(
                members,
                seat -> seat.send(member -> member.forceRelease(name, holder)),
                reply -> null,
                Verdicts::forced);
    }

    /** Returns the time of the slowest member: each may be the one that makes a majority. */
    @Override
    public Duration recovery() {
        return members.seats().stream()
                .map(Seat::member)
                .filter(Objects::nonNull)
                .map(QuorumMember::recovery)
                .max(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
    }

    /** Waits for all members, and tells how many answer and how many of those have a vote. */
    @Override
    public CompletionStage<StoreHealth> health(String name) {
        return Round.<Seen, StoreHealth>run(
                members,
                seat -> seat.send(member -> member.inspect(name)),
                Seen::standing,
                replies -> replies.pending() > 0 ? null : health(replies));
    }

    private static StoreHealth health(Replies<Seen> replies) {
        int voting = replies.members() - replies.withoutVote();
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("members", replies.members());
        details.put("needed", replies.majority());
        details.put("reachable", replies.answers().size());
        details.put("voting", voting);
        List<String> reasons = replies.reasons();
        if (!reasons.isEmpty()) {
            details.put("withoutVote", reasons);
        }
        return new StoreHealth(voting >= replies.majority(), details);
    }

    @Override
    public CompletionStage<List<Finding>> diagnose(String name) {
        return new QuorumDiagnosis(members).run();
    }

    @Override
    public void listen(StoreListener listener) {
        wakeups.listen(listener);
    }

    @Override
    public Optional<CardStore> cards() {
        boolean kept = members.seats().stream()
                .map(Seat::member)
                .anyMatch(member -> member != null && member.cards().isPresent());
        return kept ? Optional.of(new QuorumCards(members.seats())) : Optional.empty();
    }

    @Override
    public String describe() {
        return members.description();
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        wakeups.listen(null);
        examinations.close();
        compensation.close();
        for (Seat seat : members.seats()) {
            QuorumMember member = seat.member();
            if (member != null) {
                member.listen(null);
                member.close();
            }
        }
    }

    @Override
    public String toString() {
        return describe();
    }

    /** Returns how many votes are being given back; for tests. */
    int undoing() {
        return compensation.pending();
    }

    /** Returns how many acquisitions, holds and waits are remembered; for tests. */
    int remembered() {
        return running.size() + holds.size() + waiting.size();
    }

    private @Nullable StoreException refusal(long leaseMillis) {
        long longest = members.settings().longestLease.toMillis();
        return leaseMillis <= longest
                ? null
                : new StoreException(
                        StoreException.Outcome.FATAL,
                        "lease: " + DurationText.of(Duration.ofMillis(leaseMillis))
                                + " (expected: at most the longest lease of " + members.description()
                                + ", " + DurationText.of(Duration.ofMillis(longest))
                                + ", for which a member that lost its data is kept out; raise"
                                + " longestLease at all clients)",
                        null);
    }
}
