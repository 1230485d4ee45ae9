package io.holdfast.quorum;

import io.holdfast.quorum.QuorumMember.Standing;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One command to all members at once, with one outcome, which is known as soon as the answers decide it, and at the
 * members' timeout at the latest. Later answers do not change it, but the {@link Observer} receives them.
 *
 * @param <R> what a member answers
 * @param <T> the outcome
 */
final class Round<R, T> {

    /** Receives every answer and every failure, early or late, on the thread on which it arrived. */
    interface Observer<R> {

        /** Receives either a reply or the reason why there is none. */
        void heard(Seat seat, @Nullable R reply, @Nullable StoreException why);
    }

    private final Members members;
    private final Function<R, @Nullable Standing> standing;
    private final Function<Replies<R>, @Nullable T> judge;
    private final Observer<R> observer;
    private final CompletableFuture<T> outcome = new CompletableFuture<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Replies<R> replies; // by lock, until decided
    private boolean decided; // by lock
    private TimeSource.@Nullable Timer timer; // written before the first command is sent

    private Round(
            Members members,
            Function<R, @Nullable Standing> standing,
            Function<Replies<R>, @Nullable T> judge,
            Observer<R> observer) {
        this.members = members;
        this.standing = standing;
        this.judge = judge;
        this.observer = observer;
        this.replies = new Replies<>(members);
    }

    /** Runs a round that nobody observes. */
    static <R, T> CompletableFuture<T> run(
            Members members,
            Function<Seat, CompletionStage<R>> command,
            Function<R, @Nullable Standing> standing,
            Function<Replies<R>, @Nullable T> judge) {
        return run(members, command, standing, judge, (seat, reply, why) -> {});
    }

    /**
     * Sends the command to all members, and completes with the verdict.
     *
     * @param command makes the command for a seat; its failures come through the stage
     * @param standing the part of an answer that says whether it counts; null for an answer that always counts
     * @param judge returns the verdict, or null as long as there is none; never null when all have answered or failed.
     *     If there can be no verdict, it throws {@link StoreException}, and the round fails
     */
    static <R, T> CompletableFuture<T> run(
            Members members,
            Function<Seat, CompletionStage<R>> command,
            Function<R, @Nullable Standing> standing,
            Function<Replies<R>, @Nullable T> judge,
            Observer<R> observer) {
        Round<R, T> round = new Round<>(members, standing, judge, observer);
        round.timer = members.time().schedule(members.settings().memberTimeout.toNanos(), round::timeOut);
        for (Seat seat : members.seats()) {
            command.apply(seat).whenComplete((reply, error) -> {
                if (error != null) {
                    round.failed(seat, storeError(seat, error));
                } else {
                    round.answered(seat, reply);
                }
            });
        }
        return round.outcome;
    }

    private void answered(Seat seat, R reply) {
        Standing its = standing.apply(reply);
        boolean counts = its == null || seat.counts(its);
        observer.heard(seat, reply, null);
        happened(() -> {
            if (replies.isPending(seat.index)) {
                replies.answered(seat.index, reply, counts);
            }
        });
    }

    private void failed(Seat seat, StoreException why) {
        observer.heard(seat, null, why);
        happened(() -> failedIfPending(seat, why));
    }

    private void timeOut() {
        String after = DurationText.of(members.settings().memberTimeout);
        happened(() -> members.seats()
                .forEach(seat -> failedIfPending(
                        seat,
                        new StoreException(
                                StoreException.Outcome.UNKNOWN,
                                seat.description + " did not answer within " + after,
                                null))));
    }

    private void failedIfPending(Seat seat, StoreException why) {
        if (replies.isPending(seat.index)) {
            replies.failed(seat.index, why);
        }
    }

    private void happened(Runnable event) {
        T verdict = null;
        StoreException failure = null;
        lock.lock();
        try {
            if (decided) {
                return;
            }
            event.run();
            try {
                verdict = judge.apply(replies);
            } catch (StoreException e) {
                failure = e;
            }
            decided = verdict != null || failure != null;
        } finally {
            lock.unlock();
        }
        TimeSource.Timer armed = timer;
        if (armed != null && (verdict != null || failure != null)) {
            armed.cancel();
        }
        if (failure != null) {
            outcome.completeExceptionally(failure);
        } else if (verdict != null) {
            outcome.complete(verdict);
        }
    }

    /** Returns the member's own error, or one of unknown outcome if it failed in another way. */
    static StoreException storeError(Seat seat, Throwable error) {
        Throwable cause = cause(error);
        return cause instanceof StoreException known
                ? known
                : new StoreException(StoreException.Outcome.UNKNOWN, seat.description + " failed: " + cause, cause);
    }

    /** Returns the error without the exception that stages wrap it in. */
    static Throwable cause(Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }
}
