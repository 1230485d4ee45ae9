package io.holdfast.quorum;

import io.holdfast.quorum.QuorumMember.Released;
import io.holdfast.quorum.QuorumMember.Take;
import io.holdfast.quorum.QuorumMember.Vote;
import io.holdfast.quorum.QuorumMember.Written;
import io.holdfast.quorum.Verdicts.Ended;
import io.holdfast.quorum.Verdicts.Taken;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Runs the rounds about a claim, and handles answers that arrive after the round: it gives back a vote for a claim that
 * is over, and repeats a release that failed.
 */
final class ClaimRounds {

    private final Members members;
    private final QuorumCompensation compensation;
    private final AtomicLong claims = new AtomicLong();

    ClaimRounds(Members members, QuorumCompensation compensation) {
        this.members = members;
        this.compensation = compensation;
    }

    /** Returns a claim with an id that no other one has. */
    Claim newClaim(String name, String holderId) {
        return new Claim(name, holderId + "~" + Long.toString(claims.incrementAndGet(), 36));
    }

    /**
     * Asks all members for the lock. The stage fails if too few of them have a vote.
     *
     * @param waitMillis as in {@link Take}
     */
    CompletableFuture<Taken> take(Claim claim, long leaseMillis, long proposal, long waitMillis) {
        long memberLease = members.settings().memberLeaseMillis(leaseMillis);
        Take take = new Take(claim.name, claim.id, memberLease, 0, proposal, waitMillis);
        return Round.<Vote, Taken>run(
                members,
                seat -> seat.send(member -> member.take(take)),
                Vote::standing,
                replies -> Verdicts.taken(replies, proposal),
                (seat, vote, why) -> {
                    if (why != null && why.outcome() == Outcome.NOT_EXECUTED) {
                        claim.refusedAt(seat);
                    }
                    giveBackIfOver(claim, seat, vote, why);
                });
    }

    /** Gives back a vote for a claim that is over, and a vote that a member may have cast without an answer. */
    void giveBackIfOver(Claim claim, Seat seat, @Nullable Vote vote, @Nullable StoreException why) {
        if (vote != null && vote.holds() && claim.over) {
            compensation.release(seat, claim);
        } else if (why != null && why.outcome() == Outcome.UNKNOWN) {
            compensation.releaseLate(seat, claim);
        }
    }

    /**
     * Writes the round's candidate to all members. The stage fails if there is neither a majority nor a refusal.
     *
     * @param voters the members whose answers count, as in {@link Taken.Won}
     */
    CompletableFuture<TokenRound> commit(Claim claim, TokenRound round, int voters) {
        return Round.<Written, TokenRound>run(
                members,
                seat -> seat.send(member -> member.commit(claim.name, claim.id, round.candidate())),
                Written::standing,
                replies -> Verdicts.committed(replies, round, voters));
    }

    /** Ends the hold that a claim has become, and wakes the clients that wait for that. */
    CompletableFuture<Ended> release(Claim claim) {
        return end(claim, true);
    }

    /** Withdraws a claim that has become no hold, so that no client waits for its end. */
    CompletableFuture<Ended> withdraw(Claim claim) {
        return end(claim, false);
    }

    /** Ends a claim at all members, regardless of its state there. */
    private CompletableFuture<Ended> end(Claim claim, boolean wake) {
        claim.over = true;
        return Round.<Released, Ended>run(
                members,
                seat -> seat.send(member -> member.release(claim.name, claim.id, wake)),
                Released::standing,
                Verdicts::released,
                (seat, released, why) -> {
                    // Otherwise a member that is down and never had the claim would be asked for a minute.
                    if (why != null && why.outcome() != Outcome.FATAL && claim.mayBeAt(seat)) {
                        compensation.releaseAgain(seat, claim);
                    }
                });
    }

    /** Tells all members that this client no longer waits for the name. */
    CompletableFuture<Boolean> leave(String name) {
        return Round.<Boolean, Boolean>run(
                members,
                seat -> seat.send(member -> member.leave(name)),
                left -> null,
                replies -> replies.members() - replies.pending() >= replies.majority() ? true : null);
    }
}
