package io.holdfast.quorum;

import io.holdfast.quorum.QuorumMember.Identity;
import io.holdfast.quorum.QuorumMember.Standing;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Finds out which server a seat's member is. It does so when the member was reached for the first time, when its
 * connection is back, and when an answer had an unexpected birth. Until then the member has no vote.
 *
 * <p>A member that has no birth since its last start gets one, with a quarantine ({@link Quarantine}). The birth is
 * stored at the member, so all clients agree on its quarantine, even clients that connect later.
 */
final class Examinations {

    private static final System.Logger LOG = System.getLogger("io.holdfast.quorum");
    private static final long RETRY_NANOS = 500_000_000;

    /** How long to wait for an answer, which may never come. A later answer would not count. */
    private static final long PATIENCE_NANOS = 10_000_000_000L;

    private final TimeSource time;
    private final QuorumSettings settings;
    private final List<Seat> seats;

    /**
     * The seats whose examination is under way, and how often one was requested since it began. A member that was lost
     * and came back in the meantime may be another server than the one that answered.
     */
    private final ConcurrentHashMap<Integer, Integer> asked = new ConcurrentHashMap<>();

    private volatile boolean closed;

    Examinations(TimeSource time, QuorumSettings settings, List<Seat> seats) {
        this.time = time;
        this.settings = settings;
        this.seats = seats;
    }

    void close() {
        closed = true;
    }

    boolean isClosed() {
        return closed;
    }

    /** Examines a member, repeatedly until it has answered. */
    void examine(int index) {
        if (!closed && asked.merge(index, 1, Integer::sum) == 1) {
            attempt(seats.get(index));
        }
    }

    private void attempt(Seat seat) {
        int before = asked.getOrDefault(seat.index, 1);
        int doubts = seat.doubts();
        inTime(seat, seat.sendAnyway(QuorumMember::identify))
                .thenCompose(identity -> {
                    logDoubts(seat, identity);
                    return admit(seat, identity, doubts, settings.quarantineMillis());
                })
                .whenComplete((done, error) -> {
                    if (error == null && done && asked.remove(seat.index, before)) {
                        return;
                    }
                    if (error == null && done) {
                        // Another examination was requested in the meantime.
                        seat.mustBeExamined();
                        attempt(seat);
                    } else if (!closed) {
                        time.schedule(RETRY_NANOS, () -> attempt(seat));
                    }
                });
    }

    /**
     * Gives the member its birth, if it needs one, and its vote.
     *
     * @param doubts the seat's {@link Seat#doubts} before the identity was requested
     * @return false if the member must not have a vote
     */
    CompletionStage<Boolean> admit(Seat seat, Identity identity, int doubts, long quarantineMillis) {
        if (isTwin(seat, identity)) {
            return CompletableFuture.completedFuture(false);
        }
        if (!identity.standing().birth().isEmpty()) {
            return CompletableFuture.completedFuture(admitted(seat, identity, doubts, identity.standing()));
        }
        return inTime(seat, seat.sendAnyway(member -> member.admit(quarantineMillis)))
                .thenApply(standing -> admitted(seat, identity, doubts, standing));
    }

    /** Returns the answer if it is in time. A later one is ignored: the member may have lost its data since. */
    private <R> CompletionStage<R> inTime(Seat seat, CompletionStage<R> answer) {
        CompletableFuture<R> late = new CompletableFuture<>();
        TimeSource.Timer timer = time.schedule(
                PATIENCE_NANOS,
                () -> late.completeExceptionally(new StoreException(
                        StoreException.Outcome.UNKNOWN, seat.description + " does not say who it is", null)));
        return answer.whenComplete((reply, error) -> timer.cancel()).applyToEither(late, reply -> reply);
    }

    private static boolean admitted(Seat seat, Identity identity, int doubts, Standing standing) {
        seat.examined(identity.serverId(), standing.birth(), doubts);
        if (standing.quarantineMillis() > 0) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    seat.description + " is new or has lost its data, so it does not vote for "
                            + (standing.quarantineMillis() + 999) / 1_000 + " s");
        }
        return !standing.birth().isEmpty();
    }

    /** Returns whether another seat has the same server, which was reached under another name. */
    private boolean isTwin(Seat seat, Identity identity) {
        for (Seat other : seats) {
            if (other != seat && other.serverId().equals(identity.serverId())) {
                LOG.log(
                        System.Logger.Level.ERROR,
                        seat.description + " and " + other.description
                                + " are the same server; the first has no vote (name each server once)");
                return true;
            }
        }
        return false;
    }

    /** Logs what makes the server unfit as a member, once for each server. */
    void logDoubts(Seat seat, Identity identity) {
        if (!identity.serverId().equals(seat.serverId())) {
            for (String doubt : identity.doubts()) {
                LOG.log(System.Logger.Level.WARNING, seat.description + " " + doubt);
            }
        }
    }
}
