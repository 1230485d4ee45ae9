package io.holdfast.quorum;

import io.holdfast.spi.QuorumMember.Extended;
import io.holdfast.spi.QuorumMember.Extension;
import io.holdfast.spi.QuorumMember.Found;
import io.holdfast.spi.QuorumMember.Take;
import io.holdfast.spi.QuorumMember.Vote;
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

/**
 * Renewal by majority. A member that does not have the hold (it missed the acquisition, or lost its data) is filled in
 * again, so that holds do not wear away member by member.
 *
 * <p>Whether that fill counts for the renewal at hand: only when the answers are neither a majority for the hold nor one
 * against it, and then the engine still asks for the answer before the old deadline. At the instant of a filled majority
 * nobody else can have one. Nothing is filled in when a majority says that the hold is gone: it was ended by somebody.
 */
final class QuorumRenewal {

    private final Members members;
    private final Votes votes;

    /** Told of holds that a majority does not know any more. */
    private final Consumer<QuorumHold> onGone;

    QuorumRenewal(Members members, Votes votes, Consumer<QuorumHold> onGone) {
        this.members = members;
        this.votes = votes;
        this.onGone = onGone;
    }

    /** Renews each of the holds as the request in the same place says; by one batch for each member. */
    void renewAll(List<RenewRequest> requests, List<QuorumHold> holds, RenewAnswers answers) {
        List<Extension> extensions = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            RenewRequest request = requests.get(i);
            extensions.add(new Extension(
                    request.name(),
                    holds.get(i).claim().id,
                    members.settings().memberLeaseMillis(request.leaseMillis()),
                    request.sequence(),
                    request.exact()));
        }
        List<List<CompletionStage<Extended>>> bySeat = new ArrayList<>();
        for (Seat seat : members.seats()) {
            bySeat.add(seat.sendAll(extensions.size(), member -> member.extendAll(extensions)));
        }
        for (int i = 0; i < requests.size(); i++) {
            int place = i;
            OneRenewal renewal = new OneRenewal(requests.get(i), holds.get(i));
            renewal.run(bySeat.stream().map(seat -> seat.get(place)).toList())
                    .whenComplete((reply, error) -> answers.answered(place, reply, error));
        }
    }

    /** The verdict together with the answers it was made of, which do not change any more. */
    private record Decided(Verdicts.Renewal verdict, Replies<Extended> replies) {}

    private final class OneRenewal implements Round.Observer<Extended> {

        private final RenewRequest request;
        private final QuorumHold hold;
        private final Take take;

        /** Who was found not to have the hold, and was not filled in so far; also those who answer after the verdict. */
        private final Queue<Seat> absent = new ConcurrentLinkedQueue<>();

        /** From now on, who turns out not to have the hold is filled in. */
        private volatile boolean renewed;

        OneRenewal(RenewRequest request, QuorumHold hold) {
            this.request = request;
            this.hold = hold;
            this.take = new Take(
                    request.name(),
                    hold.claim().id,
                    members.settings().memberLeaseMillis(request.leaseMillis()),
                    request.sequence(),
                    hold.base(),
                    0);
        }

        CompletionStage<RenewReply> run(List<CompletionStage<Extended>> answers) {
            return Round.<Extended, Decided>run(
                            members,
                            seat -> answers.get(seat.index),
                            Extended::standing,
                            replies -> {
                                Verdicts.Renewal verdict = Verdicts.renewed(replies);
                                return verdict == null ? null : new Decided(verdict, replies);
                            },
                            this)
                    .thenCompose(this::decided);
        }

        /** A slow member would never be filled in if only the answers in time were looked at. */
        @Override
        public void answered(Seat seat, Extended extended) {
            if (extended.found() == Found.ABSENT) {
                absent.add(seat);
                if (renewed) {
                    fillAbsent();
                }
            }
        }

        private CompletionStage<RenewReply> decided(Decided decided) {
            return switch (decided.verdict()) {
                case RENEWED -> {
                    // A look promises nothing and lengthens nothing, at no member.
                    renewed = !request.isLook();
                    if (renewed) {
                        fillAbsent();
                    }
                    yield CompletableFuture.completedFuture(
                            new RenewReply.Renewed(hold.base(), waiting(decided.replies())));
                }
                case GONE -> {
                    onGone.accept(hold);
                    yield CompletableFuture.completedFuture(new RenewReply.Gone());
                }
                case SUPERSEDED -> CompletableFuture.completedFuture(new RenewReply.Superseded());
                case UNDECIDED ->
                    request.isLook()
                            ? CompletableFuture.failedFuture(members.tooFew(decided.replies()))
                            : fillAndCount(decided.replies());
            };
        }

        private void fillAbsent() {
            for (Seat seat = absent.poll(); seat != null && !hold.claim().over; seat = absent.poll()) {
                Seat filled = seat;
                hold.claim().filledInAt(filled);
                filled.send(member -> member.take(take)).whenComplete((vote, error) -> {
                    Round.Observer<Vote> returning = votes.returning(hold.claim());
                    if (error == null) {
                        returning.answered(filled, vote);
                    } else {
                        returning.failed(filled, Round.storeError(filled, error));
                    }
                });
            }
        }

        private CompletionStage<RenewReply> fillAndCount(Replies<Extended> replies) {
            if (hold.claim().over) {
                return CompletableFuture.completedFuture(new RenewReply.Gone());
            }
            return Round.<Vote, Outcome<RenewReply>>run(
                            members,
                            seat -> secondAnswer(seat, replies),
                            Vote::standing,
                            votesNow -> {
                                if (votesNow.count(Vote::holds) >= votesNow.majority()) {
                                    return Outcome.of(new RenewReply.Renewed(hold.base(), waiting(replies)));
                                }
                                return votesNow.pending() > 0 ? null : Outcome.failed(members.tooFew(votesNow));
                            },
                            votes.returning(hold.claim()))
                    .thenCompose(Outcome::stage);
        }

        /** Who has the hold has said so; who lacks it is asked to take it; the others have no vote. */
        private CompletionStage<Vote> secondAnswer(Seat seat, Replies<Extended> replies) {
            Extended first = replies.answer(seat.index);
            StoreException failure = replies.failure(seat.index);
            if (failure != null) {
                return CompletableFuture.failedFuture(failure);
            }
            if (first != null && replies.countsAt(seat.index) && first.found() == Found.HELD) {
                return CompletableFuture.completedFuture(
                        new Vote(first.standing(), true, "", 0, false, 0, first.waiting()));
            }
            if (first != null && replies.countsAt(seat.index) && first.found() == Found.ABSENT) {
                hold.claim().filledInAt(seat);
                return seat.send(member -> member.take(take));
            }
            return CompletableFuture.failedFuture(new StoreException(
                    StoreException.Outcome.UNKNOWN,
                    first != null && replies.countsAt(seat.index)
                            ? seat.description + " does not renew the hold"
                            : seat.whyNoVote(),
                    null));
        }
    }

    private static int waiting(Replies<Extended> replies) {
        int waiting = 0;
        for (Extended extended : replies.answers()) {
            waiting = Math.max(waiting, extended.waiting());
        }
        return waiting;
    }
}
