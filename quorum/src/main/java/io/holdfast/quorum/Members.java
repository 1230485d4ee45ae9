package io.holdfast.quorum;

import io.holdfast.spi.TimeSource;
import java.util.List;

/**
 * The members of one quorum, and what every round at them needs.
 *
 * @param description one short phrase for messages, without secrets
 */
record Members(String description, List<Seat> seats, TimeSource time, QuorumSettings settings) {

    Members {
        seats = List.copyOf(seats);
    }

    /** Returns the smallest number that is more than half of the members. */
    static int majority(int members) {
        return members / 2 + 1;
    }
}
