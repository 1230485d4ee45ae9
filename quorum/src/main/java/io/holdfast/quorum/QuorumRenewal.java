package io.holdfast.quorum;

import io.holdfast.quorum.QuorumMember.Extended;
import io.holdfast.quorum.QuorumMember.Extension;
import io.holdfast.quorum.QuorumMember.Found;
import io.holdfast.quorum.QuorumMember.Take;
import io.holdfast.quorum.QuorumMember.Vote;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Renews holds by majority. A member that missed the acquisition, or lost its data, is given the hold again (filled
 * in). Otherwise a hold would lose its majority one member at a time.
 *
 * <p>A fill counts for the present renewal only if the answers are neither a majority for the hold nor one against it.
 * Even then the engine needs the answer before the old deadline. While the filled majority stands, nobody else can have
 * one. Nothing is filled in when a majority says that the hold is gone: somebody has ended it.
 */
final class QuorumRenewal {

    /** A hold to renew, and how. */
    record Due(RenewRequest request, QuorumHold hold) {}

    private final Members members;
    private final ClaimRounds rounds;
    private final Consumer<QuorumHold> onGone;

    /** @param onGone receives holds that a majority no longer has */
    QuorumRenewal(Members members, ClaimRounds rounds, Consumer<QuorumHold> onGone) {
        this.members = members;
        this.rounds = rounds;
        this.onGone = onGone;
    }

    /** Renews the holds by one batch for each member; an answer's index is that of its hold. */
    void renewAll(List<Due> due, RenewAnswers answers) {
        List<OneRenewal> renewals = due.stream().map(OneRenewal::new).toList();
        List<Extension> extensions =
                renewals.stream().map(OneRenewal::extension).toList();
        List<List<CompletionStage<Extended>>> bySeat = new ArrayList<>();
        for (Seat seat : members.seats()) {
            bySeat.add(seat.sendAll(extensions.size(), member -> member.extendAll(extensions)));
        }
        for (int i = 0; i < renewals.size(); i++) {
            int place = i;
            renewals.get(i)
                    .run(seat -> bySeat.get(seat.index).get(place))
                    .whenComplete((reply, error) -> answers.answered(place, reply, error));
        }
    }

    /** The verdict and the answers that it was made from, which do not change any more. */
    private record Decided(Verdicts.Renewal verdict, Replies<Extended> replies) {}

    private final class OneRenewal {

        private final RenewRequest request;
        private final QuorumHold hold;
        private final Claim claim;

        /** The members that do not have the hold and were not filled in so far; may grow after the verdict. */
        private final Queue<Seat> absent = new ConcurrentLinkedQueue<>();

        /** Whether a member that turns out not to have the hold is filled in. */
        private volatile boolean renewed;

        OneRenewal(Due due) {
            request = due.request();
            hold = due.hold();
            claim = hold.claim();
        }

        Extension extension() {
            return new Extension(request.name(), claim.id, memberLeaseMillis(), request.sequence(), request.exact());
        }

        CompletionStage<RenewReply> run(Function<Seat, CompletionStage<Extended>> answers) {
            return Round.<Extended, Decided>run(
                            members,
                            answers,
                            Extended::standing,
                            replies -> {
                                Verdicts.Renewal verdict = Verdicts.renewed(replies);
                                return verdict == null ? null : new Decided(verdict, replies);
                            },
                            (seat, extended, why) -> {
                                // If only answers in time counted, a slow member would never be filled in.
                                if (extended != null && extended.found() == Found.ABSENT) {
                                    absent.add(seat);
                                    fillAbsentIfRenewed();
                                }
                            })
                    .thenCompose(this::decided);
        }

        private CompletionStage<RenewReply> decided(Decided decided) {
            return switch (decided.verdict()) {
                case RENEWED -> {
                    // A look promises nothing and extends the hold at no member.
                    renewed = !request.isLook();
                    fillAbsentIfRenewed();
                    yield CompletableFuture.completedFuture(renewed(decided.replies()));
                }
                case GONE -> {
                    onGone.accept(hold);
                    yield CompletableFuture.completedFuture(new RenewReply.Gone());
                }
                case SUPERSEDED -> CompletableFuture.completedFuture(new RenewReply.Superseded());
                case UNDECIDED ->
                    request.isLook()
                            ? CompletableFuture.failedFuture(decided.replies().noMajority())
                            : fillAndCount(decided.replies());
            };
        }

        private RenewReply renewed(Replies<Extended> replies) {
            return new RenewReply.Renewed(replies.max(Extended::waiting));
        }

        private void fillAbsentIfRenewed() {
            while (renewed && !claim.over) {
                Seat seat = absent.poll();
                if (seat == null) {
                    return;
                }
                fillIn(seat)
                        .whenComplete((vote, error) -> rounds.giveBackIfOver(
                                claim, seat, vote, error == null ? null : Round.storeError(seat, error)));
            }
        }

        private CompletionStage<Vote> fillIn(Seat seat) {
            claim.filledInAt(seat);
            return seat.send(member -> member.take(
                    new Take(request.name(), claim.id, memberLeaseMillis(), request.sequence(), hold.base(), 0)));
        }

        private CompletionStage<RenewReply> fillAndCount(Replies<Extended> replies) {
            if (claim.over) {
                return CompletableFuture.completedFuture(new RenewReply.Gone());
            }
            return Round.<Vote, RenewReply>run(
                    members,
                    seat -> secondAnswer(seat, replies),
                    Vote::standing,
                    votes -> {
                        if (votes.count(Vote::holds) >= votes.majority()) {
                            return renewed(replies);
                        }
                        if (votes.pending() == 0) {
                            throw votes.noMajority();
                        }
                        return null;
                    },
                    (seat, vote, why) -> rounds.giveBackIfOver(claim, seat, vote, why));
        }

        /** Repeats the answer of a member that has the hold, and asks a member that lacks it. Others have no vote. */
        private CompletionStage<Vote> secondAnswer(Seat seat, Replies<Extended> replies) {
            StoreException failure = replies.failure(seat.index);
            if (failure != null) {
                return CompletableFuture.failedFuture(failure);
            }
            Extended first = replies.vote(seat.index);
            if (first != null && first.found() == Found.HELD) {
                return CompletableFuture.completedFuture(Vote.granted(first.standing(), false, 0, first.waiting()));
            }
            if (first != null && first.found() == Found.ABSENT) {
                return fillIn(seat);
            }
            return CompletableFuture.failedFuture(new StoreException(
                    StoreException.Outcome.UNKNOWN,
                    first != null ? seat.description + " does not renew the hold" : seat.noVoteReason(),
                    null));
        }

        private long memberLeaseMillis() {
            return members.settings().memberLeaseMillis(request.leaseMillis());
        }
    }
}
