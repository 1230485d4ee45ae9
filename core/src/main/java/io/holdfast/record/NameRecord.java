package io.holdfast.record;

import io.holdfast.spi.AcquireRequest;
import java.util.List;

/**
 * A name as a value: its holds and its queue. A {@link NameDecision} makes the next value from it. All instants are
 * nanoseconds by the clock of the store.
 *
 * <p>Invariants: each id is in it once; the entries of the queue came after all holds.
 *
 * @param holds in the order in which they were granted; some may have run out
 * @param queue in the order of arrival; some may be dead
 */
public record NameRecord(List<Hold> holds, List<Entry> queue) {

    /** The record of a name that nobody holds or waits for. */
    public static final NameRecord FREE = new NameRecord(List.of(), List.of());

    /**
     * A hold, until its time has run out.
     *
     * @param sequence the largest number of an exact setting that was executed
     */
    public record Hold(String holderId, int weight, long base, long endNanos, long sequence) {

        public boolean isOver(long now) {
            return now - endNanos >= 0;
        }

        /** Returns the time left, which a reply never shows as none. */
        public long remainingMillis(long now) {
            return Math.max(1, (endNanos - now) / 1_000_000);
        }

        Hold until(long otherEndNanos, long otherSequence) {
            return new Hold(holderId, weight, base, otherEndNanos, otherSequence);
        }
    }

    /** A waiting holder id. It is alive if it was stamped within the last three of its poll intervals. */
    public record Entry(AcquireRequest request, long stampNanos) {

        public String holderId() {
            return request.holderId();
        }

        public boolean isAlive(long now) {
            return now - stampNanos <= 3 * request.pollMillis() * 1_000_000;
        }
    }

    /** Returns whether nothing needs to be kept of the name. A record's own equals would keep this class in memory. */
    public boolean isEmpty() {
        return holds.isEmpty() && queue.isEmpty();
    }

    /** Returns whether nobody holds the name or waits for it at this instant. */
    public boolean isFree(long now) {
        return holds.stream().allMatch(hold -> hold.isOver(now))
                && queue.stream().noneMatch(entry -> entry.isAlive(now));
    }
}
