package io.holdfast.quorum;

import io.holdfast.quorum.Verdicts.Taken;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongUnaryOperator;

/**
 * One request for a name: a round for the lock, rounds for the token if the first proposal was refused, and further
 * tries if several clients split the votes.
 *
 * <pre>
 *   TAKING → GRANTED                            majority, token accepted by it
 *   TAKING → COMMITTING → … → GRANTED           majority, token refused
 *   TAKING → PAUSING → TAKING                   split votes; a few times, after a random pause
 *   TAKING | COMMITTING → BUSY | FAILED         no majority, or not in time: all votes are given back
 * </pre>
 *
 * <p>Each try is a {@link Claim} of its own. A step is taken only by the completion of the step before, so there is no
 * lock.
 */
final class Acquisition {

    /** Remembers the acquisitions that run and the holds that they won. */
    interface Registry {

        void held(String holderId, QuorumHold hold);

        /**
         * Forgets an acquisition that has ended.
         *
         * @param waits whether the client waits for a release of the name
         */
        void finished(Acquisition acquisition, boolean waits);
    }

    private static final int TRIES = 3;

    /** Half of the bound of the first random pause; the bound doubles with each further split. */
    private static final long PAUSE_NANOS = 4_000_000;

    /** The number of refusals after which the registers must be corrupt. */
    private static final int COMMITS_MAX = 20;

    /**
     * The bound of the random time after which the engine asks again when the votes were split. The engine waits for as
     * long as a busy reply says that the hold lasts, so this is short.
     */
    private static final long SPLIT_MILLIS = 30;

    /** The same while some members have no vote: a hold may be hidden behind them. */
    private static final long SPLIT_SOME_OUT_MILLIS = 200;

    /** The answer for an id that was withdrawn. Nobody uses this answer. */
    static final AcquireReply NOT_ASKED_FOR = new AcquireReply.Busy(1, 0, "(not asked for)");

    final CompletableFuture<AcquireReply> outcome = new CompletableFuture<>();
    final AcquireRequest request;

    private final Registry registry;
    private final ProposalClock proposals;
    private final Members members;
    private final ClaimRounds rounds;
    private volatile boolean unwanted;

    Acquisition(
            Registry registry, ProposalClock proposals, Members members, ClaimRounds rounds, AcquireRequest request) {
        this.registry = registry;
        this.proposals = proposals;
        this.members = members;
        this.rounds = rounds;
        this.request = request;
    }

    void start() {
        attempt(1);
    }

    /** Cancels the acquisition: no further tries. */
    void unwanted() {
        unwanted = true;
    }

    boolean isUnwanted() {
        return unwanted;
    }

    private void attempt(int number) {
        // Read before the first request: validity counts from here.
        long sentNanos = members.time().nanoTime();
        long proposal;
        try {
            proposal = proposals.next();
        } catch (StoreException e) {
            fail(e);
            return;
        }
        Claim claim = rounds.newClaim(request.name(), request.holderId());
        var unused = rounds.take(claim, request.leaseMillis(), proposal, request.queue() ? request.pollMillis() : 0)
                .whenComplete((taken, error) -> {
                    if (error != null) {
                        giveUp(claim, error);
                    } else if (taken instanceof Taken.Won won) {
                        proposals.observe(won.token().highest());
                        settle(claim, sentNanos, won, won.token(), 1);
                    } else if (taken instanceof Taken.Held held) {
                        giveBack(claim);
                        done(new AcquireReply.Busy(held.remainingMillis(), 0, Claim.holderOf(held.holder())));
                    } else if (taken instanceof Taken.Split split) {
                        giveBack(claim);
                        tryAgain(split, number);
                    }
                });
    }

    /** Commits the token, with larger numbers if the members refuse it. The lock is held only after that. */
    private void settle(Claim claim, long sentNanos, Taken.Won won, TokenRound round, int number) {
        if (members.time().nanoTime() - sentNanos >= members.settings().validityNanos(request.leaseMillis())) {
            giveUp(
                    claim,
                    new StoreException(
                            Outcome.NOT_EXECUTED,
                            "The lease had run out before a majority of " + members.description()
                                    + " had answered (expected: answers in much less than a lease)",
                            null));
        } else if (round.isCommitted()) {
            registry.held(request.holderId(), new QuorumHold(claim, round.candidate()));
            done(new AcquireReply.Granted(round.candidate(), won.waiting()));
        } else if (number > COMMITS_MAX || round.highest() >= ProposalClock.MAX) {
            giveUp(
                    claim,
                    new StoreException(
                            round.highest() >= ProposalClock.MAX ? Outcome.FATAL : Outcome.NOT_EXECUTED,
                            "The members of " + members.description() + " accept no fencing token above "
                                    + round.highest(),
                            null));
        } else {
            var unused = rounds.commit(claim, round.next(), won.voters()).whenComplete((after, error) -> {
                if (error != null) {
                    giveUp(claim, error);
                } else {
                    settle(claim, sentNanos, won, after, number + 1);
                }
            });
        }
    }

    private void tryAgain(Taken.Split split, int number) {
        LongUnaryOperator random = members.settings().random;
        if (split.someHaveNoVote() || number >= TRIES || unwanted) {
            long later = split.someHaveNoVote() ? SPLIT_SOME_OUT_MILLIS : SPLIT_MILLIS;
            String holder = split.holder().isEmpty() ? "(several clients at once)" : Claim.holderOf(split.holder());
            done(new AcquireReply.Busy(1 + random.applyAsLong(later), 0, holder));
        } else {
            long pause = 1 + random.applyAsLong(PAUSE_NANOS << number);
            members.time().schedule(pause, () -> attempt(number + 1));
        }
    }

    private void giveBack(Claim claim) {
        var unused = rounds.withdraw(claim);
    }

    private void giveUp(Claim claim, Throwable error) {
        giveBack(claim);
        fail(error);
    }

    /** Ends the acquisition with a reply, even if it was not started. */
    void done(AcquireReply reply) {
        registry.finished(this, reply instanceof AcquireReply.Busy);
        outcome.complete(reply);
    }

    /** Ends the acquisition with an error, even if it was not started. */
    void fail(Throwable error) {
        registry.finished(this, false);
        outcome.completeExceptionally(Round.cause(error));
    }
}
