package io.holdfast.quorum;

import io.holdfast.spi.QuorumMember;
import io.holdfast.spi.QuorumMember.Released;
import io.holdfast.spi.QuorumMember.Take;
import io.holdfast.spi.QuorumMember.Vote;
import io.holdfast.spi.QuorumMember.Written;
import io.holdfast.spi.StoreException;
import java.util.concurrent.CompletionStage;

/**
 * The rounds about a claim, with what must follow from answers that come when nobody waits for them: a vote for a claim
 * that is over is given back, a release that failed is sent again.
 */
final class Votes {

    private final Members members;
    private final QuorumCompensation undoing;

    Votes(Members members, QuorumCompensation undoing) {
        this.members = members;
        this.undoing = undoing;
    }

    /** Asks all members for the lock. A failure to get any majority of answers comes as the stage's error. */
    CompletionStage<Verdicts.Taken> take(Claim claim, long leaseMillis, long proposal, long waitMillis) {
        Take take = new Take(
                claim.name, claim.id, members.settings().memberLeaseMillis(leaseMillis), 0, proposal, waitMillis);
        return Round.<Vote, Outcome<Verdicts.Taken>>run(
                        members,
                        seat -> seat.send(member -> member.take(take)),
                        Vote::standing,
                        replies -> {
                            Verdicts.Taken taken = Verdicts.taken(replies, proposal);
                            return taken instanceof Verdicts.Taken.Failed
                                    ? Outcome.failed(members.tooFew(replies))
                                    : Outcome.ofNullable(taken);
                        },
                        firstRequest(claim))
                .thenCompose(Outcome::stage);
    }

    /** As {@link #returning}; and remembers where there is nothing to give back. */
    private Round.Observer<Vote> firstRequest(Claim claim) {
        Round.Observer<Vote> returning = returning(claim);
        return new Round.Observer<>() {
            @Override
            public void answered(Seat seat, Vote vote) {
                returning.answered(seat, vote);
            }

            @Override
            public void failed(Seat seat, StoreException why) {
                if (why.outcome() == StoreException.Outcome.NOT_EXECUTED) {
                    claim.refusedAt(seat);
                }
                returning.failed(seat, why);
            }
        };
    }

    /** Gives votes back that come for a claim which is over, and those of which no answer tells. */
    Round.Observer<Vote> returning(Claim claim) {
        return new Round.Observer<>() {
            @Override
            public void answered(Seat seat, Vote vote) {
                if (vote.holds() && claim.over) {
                    undoing.undo(seat, claim);
                }
            }

            @Override
            public void failed(Seat seat, StoreException why) {
                if (why.outcome() == StoreException.Outcome.UNKNOWN) {
                    undoing.undoWhatIsLate(seat, claim);
                }
            }
        };
    }

    /**
     * Writes the round's candidate to all members.
     *
     * @param voters the members whose answers count, as in {@link Verdicts.Taken.Won}
     */
    CompletionStage<TokenRound> commit(Claim claim, TokenRound round, int voters) {
        return Round.<Written, Outcome<TokenRound>>run(
                        members,
                        seat -> seat.send(member -> member.commit(claim.name, claim.id, round.candidate())),
                        Written::standing,
                        replies -> {
                            TokenRound after = Verdicts.committed(replies, round, voters);
                            return after != null && !after.isCommitted() && !after.isRefused()
                                    ? Outcome.failed(members.tooFew(replies))
                                    : Outcome.ofNullable(after);
                        },
                        new Round.Observer<>() {})
                .thenCompose(Outcome::stage);
    }

    /**
     * Ends a claim at all members, whatever it came to there.
     *
     * @param wake whether it was a hold, whose end others wait for
     * @return whether a majority had it, and how many wait
     */
    CompletionStage<Ended> end(Claim claim, boolean wake) {
        claim.over = true;
        return Round.<Released, Ended>run(
                members,
                seat -> seat.send(member -> member.release(claim.name, claim.id, wake)),
                Released::standing,
                replies -> {
                    Verdicts.Ending ending = Verdicts.released(replies);
                    return ending == null ? null : new Ended(ending, waiting(replies));
                },
                new Round.Observer<>() {
                    @Override
                    public void failed(Seat seat, StoreException why) {
                        // Not where it never was: a member that is down would be asked for each claim, for a minute.
                        if (why.outcome() != StoreException.Outcome.FATAL && claim.mayBeAt(seat)) {
                            undoing.undoLater(seat, claim);
                        }
                    }
                });
    }

    /** The end of a hold. */
    record Ended(Verdicts.Ending ending, int waiting) {}

    private static int waiting(Replies<Released> replies) {
        int waiting = 0;
        for (Released released : replies.answers()) {
            waiting = Math.max(waiting, released.waiting());
        }
        return waiting;
    }

    /** This client waits for the name no more. */
    CompletionStage<Boolean> leave(String name) {
        return Round.<Boolean, Boolean>run(
                members,
                seat -> seat.send((QuorumMember member) -> member.leave(name)),
                left -> null,
                replies -> replies.members() - replies.pending() >= replies.majority() ? true : null,
                new Round.Observer<>() {});
    }
}
