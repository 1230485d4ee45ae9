package io.holdfast.quorum;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import io.holdfast.spi.TimeSource;
import java.util.ArrayList;
import java.util.List;

/** The seats of a quorum, and what all rounds need. */
final class Members {

    private final String description;
    private final List<Seat> seats;
    private final TimeSource time;
    private final QuorumSettings settings;

    Members(String description, List<Seat> seats, TimeSource time, QuorumSettings settings) {
        this.description = description;
        this.seats = List.copyOf(seats);
        this.time = time;
        this.settings = settings;
    }

    List<Seat> seats() {
        return seats;
    }

    TimeSource time() {
        return time;
    }

    QuorumSettings settings() {
        return settings;
    }

    long timeoutNanos() {
        return settings.memberTimeout.toNanos();
    }

    String timeoutText() {
        return DurationText.of(settings.memberTimeout);
    }

    String describe() {
        return description;
    }

    /**
     * Why a round came to nothing: too few members had a vote.
     *
     * @param replies of a round that is decided
     */
    StoreException tooFew(Replies<?> replies) {
        List<String> reasons = new ArrayList<>();
        int fatal = 0;
        boolean unknown = false;
        for (Seat seat : seats) {
            StoreException why = replies.failure(seat.index);
            if (why != null) {
                reasons.add(String.valueOf(why.getMessage()));
                fatal += why.outcome() == Outcome.FATAL ? 1 : 0;
                unknown |= why.outcome() == Outcome.UNKNOWN;
            } else if (!replies.isPending(seat.index) && !replies.countsAt(seat.index)) {
                reasons.add(seat.whyNoVote());
            }
        }
        Outcome outcome =
                fatal >= replies.majority() ? Outcome.FATAL : unknown ? Outcome.UNKNOWN : Outcome.NOT_EXECUTED;
        return new StoreException(
                outcome,
                reasons.size() + " of the " + seats.size() + " members of " + description + " have no vote, so there is"
                        + " no majority: " + String.join("; ", reasons),
                null);
    }
}
