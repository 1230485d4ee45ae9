package io.holdfast.quorum;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.QuorumMember;
import io.holdfast.spi.QuorumMember.Seen;
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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The store made of members. Keeps, beside the connections, one entry for each acquisition under way and for each hold:
 * under which id the members know it.
 *
 * <p>Invariant: while a majority may have granted a claim of this client, that claim is in {@link #running} or in
 * {@link #holds}, or a release of it was sent to all members. So nothing is filled in again after its release, and no vote
 * is left behind.
 *
 * <p>Nothing begins for an id after its withdrawal: what was asked for before is in {@link #running}, where the withdrawal finds
 * it, or waits for what is.
 *
 * <p>A hold is granted, renewed and ended by a majority. What a minority still has then is undone in the background.
 */
final class QuorumLockStore implements LockStore {

    /** After a release with others waiting: how long this client lets them go first. */
    private static final long GIVE_WAY_MILLIS = 20;

    private final Members members;
    private final Examinations examinations;
    private final Wakeups wakeups;
    private final QuorumCompensation undoing;
    private final Votes votes;
    private final QuorumRenewal renewing;
    private final ProposalClock proposals;
    private final String clientId;
    private final AtomicLong rounds = new AtomicLong();
    private final Map<String, Acquisition> running = new ConcurrentHashMap<>();
    private final Map<String, QuorumHold> holds = new ConcurrentHashMap<>();

    /**
     * By name: the holder id that asked last and waits for a release. The members know waiting clients, not ids, so only that
     * one may leave for the client.
     */
    private final Map<String, String> waiting = new ConcurrentHashMap<>();

    private volatile boolean closed;

    QuorumLockStore(Members members, Examinations examinations, Wakeups wakeups, String clientId) {
        this.members = members;
        this.examinations = examinations;
        this.wakeups = wakeups;
        this.clientId = clientId;
        this.undoing = new QuorumCompensation(members);
        this.votes = new Votes(members, undoing);
        this.renewing = new QuorumRenewal(members, votes, this::gone);
        this.proposals = new ProposalClock(members.time());
    }

    // --- for its acquisitions ---

    Claim newClaim(AcquireRequest request) {
        return new Claim(request.name(), request.holderId() + "~" + Long.toString(rounds.incrementAndGet(), 36));
    }

    ProposalClock proposals() {
        return proposals;
    }

    void held(String holderId, QuorumHold hold) {
        holds.put(holderId, hold);
    }

    void finished(Acquisition acquisition, boolean waits) {
        AcquireRequest request = acquisition.request();
        if (!waits) {
            waiting.remove(request.name(), request.holderId());
        }
        running.remove(request.holderId(), acquisition);
    }

    // --- commands ---

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        Acquisition acquisition = new Acquisition(this, members, votes, request);
        Acquisition other = running.putIfAbsent(request.holderId(), acquisition);
        if (other == null) {
            return begin(acquisition);
        }
        // One after the other: the answer to the first would promise a time that counts from the second.
        return other.outcome
                .handle((reply, error) -> other.isUnwanted())
                .thenCompose(withdrawn ->
                        withdrawn ? CompletableFuture.completedFuture(Acquisition.NOT_ASKED_FOR) : acquire(request));
    }

    /** It is in {@link #running} already. */
    private CompletionStage<AcquireReply> begin(Acquisition acquisition) {
        AcquireRequest request = acquisition.request();
        StoreException refusal = refusal(request.leaseMillis());
        if (refusal != null) {
            acquisition.fail(refusal);
            return acquisition.outcome;
        }
        if (acquisition.isUnwanted()) {
            acquisition.drop();
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
        acquisition.foundHeld(hold);
        return acquireAgain(request, hold);
    }

    /** Sent again for an id that holds: lengthens, as a renewal does that no setting preceded. */
    private CompletionStage<AcquireReply> acquireAgain(AcquireRequest request, QuorumHold hold) {
        RenewRequest renewal = RenewRequest.extend(request.name(), request.holderId(), request.leaseMillis(), 0);
        return renew(renewal).thenCompose(reply -> {
            if (reply instanceof RenewReply.Gone) {
                return acquire(request);
            }
            if (reply instanceof RenewReply.Renewed renewed) {
                return CompletableFuture.completedFuture(new AcquireReply.Granted(hold.base(), renewed.waiting()));
            }
            // A later setting was executed: it holds, but nobody knows for how long.
            return CompletableFuture.completedFuture(new AcquireReply.Granted(hold.base(), 0, 0));
        });
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return RenewAnswers.single(answers -> renewAll(List.of(request), answers));
    }

    @Override
    public void renewAll(List<RenewRequest> requests, RenewAnswers answers) {
        List<RenewRequest> sent = new ArrayList<>();
        List<QuorumHold> held = new ArrayList<>();
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
                sent.add(request);
                held.add(hold);
                places.add(i);
            }
        }
        renewing.renewAll(sent, held, (index, reply, error) -> answers.answered(places.get(index), reply, error));
    }

    /** A majority does not know the hold: what a minority still has of it must not keep others out. */
    private void gone(QuorumHold hold) {
        holds.remove(Claim.holderOf(hold.claim().id), hold);
        var unused = votes.end(hold.claim(), true);
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        QuorumHold hold = holds.remove(request.holderId());
        if (hold == null) {
            return CompletableFuture.completedFuture(new ReleaseReply(false, null));
        }
        Acquisition next = toFollow(request.requeue());
        return votes.end(hold.claim(), true).thenCompose(ended -> {
            boolean wasHeld = ended.ending() == Verdicts.Ending.HELD;
            if (next != null && wasHeld && ended.waiting() == 0) {
                return begin(next).thenApply(reply -> new ReleaseReply(true, reply));
            }
            if (next != null) {
                next.drop();
            }
            if (ended.ending() == Verdicts.Ending.UNKNOWN) {
                return CompletableFuture.failedFuture(new StoreException(
                        StoreException.Outcome.UNKNOWN,
                        "Too few members of " + members.describe() + " have answered the release",
                        null));
            }
            if (next == null || !wasHeld) {
                return CompletableFuture.completedFuture(new ReleaseReply(wasHeld, null));
            }
            // There is no queue to go to the end of: let the others go first.
            long later = GIVE_WAY_MILLIS + members.settings().random.applyAsLong(GIVE_WAY_MILLIS);
            return CompletableFuture.completedFuture(
                    new ReleaseReply(true, new AcquireReply.Busy(later, 0, "(left free for other clients)")));
        });
    }

    /** Known before the release is sent: a withdrawal that comes meanwhile must not be over before this has begun. */
    private @Nullable Acquisition toFollow(@Nullable AcquireRequest requeue) {
        if (requeue == null) {
            return null;
        }
        Acquisition next = new Acquisition(this, members, votes, requeue);
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
                isLastOfItsClient(name, holderId) ? votes.leave(name) : CompletableFuture.completedFuture(true);
        QuorumHold hold = holds.remove(holderId);
        if (hold == null) {
            return left.thenApply(done -> false);
        }
        return votes.end(hold.claim(), true).thenApply(ended -> ended.ending() == Verdicts.Ending.HELD);
    }

    /** Whether nobody of this client has begun to wait for the name after this one. */
    private boolean isLastOfItsClient(String name, String holderId) {
        waiting.remove(name, holderId);
        return !waiting.containsKey(name);
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return Round.<Seen, Outcome<StoreState>>run(
                        members,
                        seat -> seat.send(member -> member.inspect(name)),
                        Seen::standing,
                        replies -> {
                            Verdicts.Sight sight = Verdicts.seen(replies);
                            if (sight == null) {
                                return null;
                            }
                            StoreState state = sight.state();
                            return state == null ? Outcome.failed(members.tooFew(replies)) : Outcome.of(shown(state));
                        },
                        new Round.Observer<>() {})
                .thenCompose(Outcome::stage);
    }

    private static StoreState shown(StoreState state) {
        String holder = state.holder();
        return holder == null
                ? state
                : new StoreState(Claim.holderOf(holder), state.remainingMillis(), state.base(), state.waiting());
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return Round.<Optional<String>, Outcome<Boolean>>run(
                        members,
                        seat -> seat.send(member -> member.forceRelease(name)),
                        reply -> null,
                        replies -> {
                            Verdicts.Ending ending = Verdicts.forced(replies);
                            if (ending == Verdicts.Ending.UNKNOWN) {
                                return Outcome.failed(members.tooFew(replies));
                            }
                            return ending == null ? null : Outcome.of(ending == Verdicts.Ending.HELD);
                        },
                        new Round.Observer<>() {})
                .thenCompose(Outcome::stage);
    }

    @Override
    public CompletionStage<StoreHealth> health(String name) {
        return QuorumHealth.ask(members, name);
    }

    @Override
    public void listen(StoreListener listener) {
        wakeups.listen(listener);
    }

    @Override
    public String describe() {
        return members.describe();
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        wakeups.listen(null);
        examinations.close();
        undoing.close();
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
        return describe() + " for " + clientId;
    }

    /** For tests: votes that are being given back. */
    int undoing() {
        return undoing.pending();
    }

    /** For tests: what is remembered of acquisitions and holds. */
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
                                + " (expected: at most the longest lease of " + members.describe()
                                + ", " + DurationText.of(Duration.ofMillis(longest))
                                + ", for which a member that lost its data is kept out; raise"
                                + " longestLease at all clients)",
                        null);
    }
}
