package io.holdfast;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The numbers of a client's acquisitions, from which its holder ids are made. Thread-safe.
 *
 * <p>Invariant: two processes that came from one image never own a name by one holder id that was asked for after their connections
 * were made anew. Both have the client id and the numbers of the image. So the numbers begin anew, at a random place, before a new
 * connection takes commands; an attempt with an older number is not sent again, and its grant is not used.
 */
final class AcquisitionNumbers {

    /** So many that two processes hardly ever meet, with room to count on. */
    private static final long STARTS = 1L << 62;

    /** The numbers since the last new connection: from {@code first} to {@code last}. */
    private record Range(long first, AtomicLong last) {

        static Range from(long first) {
            return new Range(first, new AtomicLong(first - 1));
        }
    }

    private final LongSupplier freshBits;
    private volatile Range range = Range.from(1);

    AcquisitionNumbers(LongSupplier freshBits) {
        this.freshBits = freshBits;
    }

    long next() {
        return range.last.incrementAndGet();
    }

    /** Whether this process has made the number since the last new connection. */
    boolean isCurrent(long number) {
        Range current = range;
        return number >= current.first && number <= current.last.get();
    }

    /** A connection is being made anew. */
    void beginAnew() {
        range = Range.from(1 + (freshBits.getAsLong() & (STARTS - 1)));
    }
}
