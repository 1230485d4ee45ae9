package io.holdfast.quorum;

import io.holdfast.spi.QuorumMember.Standing;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One command to all members at once, and one outcome: as soon as the answers decide it, and at the members' timeout at
 * the latest. Answers that come later change nothing any more, but are told to the {@link Observer}.
 *
 * @param <R> what a member answers
 * @param <T> the outcome
 */
final class Round<R, T> {

    /** Learns of every answer and every failure, early or late. Runs on the thread that brought it. */
    interface Observer<R> {

        default void answered(Seat seat, R reply) {}

        default void failed(Seat seat, StoreException why) {}
    }

    private final List<Seat> seats;
    private final Function<R, @Nullable Standing> standing;
    private final Function<Replies<R>, @Nullable T> judge;
    private final Observer<R> observer;
    private final CompletableFuture<T> outcome = new CompletableFuture<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Replies<R> replies; // by lock, until decided
    private boolean decided; // by lock
    private TimeSource.@Nullable Timer timer; // written before the first command is sent

    private Round(
            List<Seat> seats,
            Function<R, @Nullable Standing> standing,
            Function<Replies<R>, @Nullable T> judge,
            Observer<R> observer) {
        this.seats = seats;
        this.standing = standing;
        this.judge = judge;
        this.observer = observer;
        this.replies = new Replies<>(seats.size());
    }

    /**
     * Sends, and completes with the verdict.
     *
     * @param command makes the command for a seat; its failures come through the stage
     * @param standing the part of an answer that says whether it counts; null for an answer that always counts
     * @param judge the verdict, or null as long as there is none; not null when all have answered or failed
     */
    static <R, T> CompletableFuture<T> run(
            Members members,
            Function<Seat, CompletionStage<R>> command,
            Function<R, @Nullable Standing> standing,
            Function<Replies<R>, @Nullable T> judge,
            Observer<R> observer) {
        Round<R, T> round = new Round<>(members.seats(), standing, judge, observer);
        round.timer = members.time().schedule(members.timeoutNanos(), () -> round.timeOut(members.timeoutText()));
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
        observer.answered(seat, reply);
        happened(() -> {
            if (replies.isPending(seat.index)) {
                replies.answered(seat.index, reply, counts);
            }
        });
    }

    private void failed(Seat seat, StoreException why) {
        observer.failed(seat, why);
        happened(() -> {
            if (replies.isPending(seat.index)) {
                replies.failed(seat.index, why);
            }
        });
    }

    private void timeOut(String after) {
        happened(() -> {
            for (Seat seat : seats) {
                if (replies.isPending(seat.index)) {
                    replies.failed(
                            seat.index,
                            new StoreException(
                                    StoreException.Outcome.UNKNOWN,
                                    seat.description + " did not answer within " + after,
                                    null));
                }
            }
        });
    }

    private void happened(Runnable event) {
        T verdict;
        lock.lock();
        try {
            if (decided) {
                return;
            }
            event.run();
            verdict = judge.apply(replies);
            decided = verdict != null;
        } finally {
            lock.unlock();
        }
        if (verdict != null) {
            TimeSource.Timer waiting = timer;
            if (waiting != null) {
                waiting.cancel();
            }
            outcome.complete(verdict);
        }
    }

    static StoreException storeError(Seat seat, Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        return cause instanceof StoreException known
                ? known
                : new StoreException(StoreException.Outcome.UNKNOWN, seat.description + " failed: " + cause, cause);
    }
}
