package io.holdfast.quorum;

import io.holdfast.quorum.Verdicts.Taken;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One request for a name: a round for the lock, rounds for the token where the first proposal was refused, and further
 * tries when several clients have split the votes.
 *
 * <pre>
 *   TAKING → GRANTED                            majority, token accepted by it
 *   TAKING → COMMITTING → … → GRANTED           majority, token refused
 *   TAKING → PAUSING → TAKING                   split votes; a few times, after a random pause
 *   TAKING | COMMITTING → BUSY | FAILED         no majority, or not in time: all votes are given back
 * </pre>
 *
 * <p>Each try is a {@link Claim} of its own. A step is taken only by the completion of the one before, so there is no
 * lock.
 */
final class Acquisition {

    private static final int TRIES = 3;

    /** The pause after the first split; doubled for each further one. */
    private static final long PAUSE_NANOS = 4_000_000;

    /** After so many refusals something is wrong with the members' registers. */
    private static final int COMMITS_MAX = 20;

    /** When to ask again after split votes; the engine asks at the end of what it takes for the present hold. */
    private static final long AGAIN_MILLIS = 30;

    /** The same while some members have no vote, and a hold may be hidden behind them. */
    private static final long AGAIN_SOME_OUT_MILLIS = 200;

    /** For an id that was withdrawn before: nobody uses it any more. */
    static final AcquireReply NOT_ASKED_FOR = new AcquireReply.Busy(1, 0, "not asked for");

    final CompletableFuture<AcquireReply> outcome = new CompletableFuture<>();

    private final QuorumLockStore store;
    private final Members members;
    private final Votes votes;
    private final AcquireRequest request;
    private volatile boolean unwanted;

    Acquisition(QuorumLockStore store, Members members, Votes votes, AcquireRequest request) {
        this.store = store;
        this.members = members;
        this.votes = votes;
        this.request = request;
    }

    AcquireRequest request() {
        return request;
    }

    void start() {
        attempt(1);
    }

    /** Instead of {@link #start}: its id holds already. Who has waited for the outcome meanwhile sees to the hold himself. */
    void foundHeld(QuorumHold hold) {
        done(new AcquireReply.Granted(hold.base(), 0, 0));
    }

    /** Instead of {@link #start}: it is not asked for. */
    void drop() {
        done(NOT_ASKED_FOR);
    }

    /** Nobody waits for it any more: no further tries. */
    void unwanted() {
        unwanted = true;
    }

    boolean isUnwanted() {
        return unwanted;
    }

    private void attempt(int number) {
        // Before the first request: validity counts from here.
        long sentNanos = members.time().nanoTime();
        Claim claim = store.newClaim(request);
        long proposal = store.proposals().next();
        votes.take(claim, request.leaseMillis(), proposal, request.queue() ? request.pollMillis() : 0)
                .whenComplete((taken, error) -> {
                    if (error != null) {
                        giveUp(claim);
                        fail(error);
                    } else if (taken instanceof Taken.Won won) {
                        store.proposals().observe(won.token().highest());
                        settle(claim, sentNanos, won, won.token(), 1);
                    } else if (taken instanceof Taken.Held held) {
                        giveUp(claim);
                        done(new AcquireReply.Busy(held.remainingMillis(), 0, Claim.holderOf(held.holder())));
                    } else if (taken instanceof Taken.Split split) {
                        giveUp(claim);
                        tryAgain(split, number);
                    }
                });
    }

    /** Goes on until the token is committed. Only then is the lock held. */
    private void settle(Claim claim, long sentNanos, Taken.Won won, TokenRound round, int number) {
        if (isTooLate(sentNanos)) {
            giveUp(claim);
            fail(new StoreException(
                    Outcome.NOT_EXECUTED,
                    "The lease on \"" + request.name() + "\" had run out before a majority of " + members.describe()
                            + " had answered (expected: answers in much less than a lease)",
                    null));
        } else if (round.isCommitted()) {
            grant(claim, round.candidate(), won.waiting());
        } else if (number > COMMITS_MAX || round.highest() >= ProposalClock.MAX) {
            giveUp(claim);
            fail(new StoreException(
                    round.highest() >= ProposalClock.MAX ? Outcome.FATAL : Outcome.NOT_EXECUTED,
                    "The members of " + members.describe() + " accept no fencing token for " + request.name()
                            + " above " + round.highest(),
                    null));
        } else {
            TokenRound next = round.next();
            votes.commit(claim, next, won.voters()).whenComplete((after, error) -> {
                if (error != null) {
                    giveUp(claim);
                    fail(error);
                } else {
                    settle(claim, sentNanos, won, after, number + 1);
                }
            });
        }
    }

    private boolean isTooLate(long sentNanos) {
        return members.time().nanoTime() - sentNanos >= members.settings().validityNanos(request.leaseMillis());
    }

    private void grant(Claim claim, long token, int waiting) {
        store.held(request.holderId(), new QuorumHold(claim, token));
        done(new AcquireReply.Granted(token, waiting));
    }

    private void tryAgain(Taken.Split split, int number) {
        LongUnaryOperator random = members.settings().random;
        if (split.someHaveNoVote() || number >= TRIES || unwanted) {
            long again = split.someHaveNoVote() ? AGAIN_SOME_OUT_MILLIS : AGAIN_MILLIS;
            String holder = split.holder().isEmpty() ? "several clients at once" : Claim.holderOf(split.holder());
            done(new AcquireReply.Busy(1 + random.applyAsLong(again), 0, holder));
        } else {
            long pause = 1 + random.applyAsLong(PAUSE_NANOS << number);
            members.time().schedule(pause, () -> attempt(number + 1));
        }
    }

    private void giveUp(Claim claim) {
        var unused = votes.end(claim, false);
    }

    private void done(AcquireReply reply) {
        store.finished(this, reply instanceof AcquireReply.Busy);
        outcome.complete(reply);
    }

    /** Also instead of {@link #start}. */
    void fail(@Nullable Throwable error) {
        store.finished(this, false);
        outcome.completeExceptionally(
                error instanceof CompletionException && error.getCause() != null
                        ? error.getCause()
                        : error == null ? new IllegalStateException() : error);
    }
}
