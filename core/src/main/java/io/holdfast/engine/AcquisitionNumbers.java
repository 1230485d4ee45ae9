package io.holdfast.engine;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The numbers of a client's acquisitions, which are part of its holder ids. Thread-safe.
 *
 * <p>Invariant: two processes from one image never own a name under one holder id that was requested after their new
 * connections were made. Both have the client id and the numbers of the image. So the numbers begin again, at a random
 * place, before a new connection takes commands; an attempt with an older number is not sent again, and its
 * grant is not used.
 */
final class AcquisitionNumbers {

    /** The number of random places: two processes almost never have the same, and there is room to count on. */
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

    /** Returns whether this process has made the number since the last new connection. */
    boolean isCurrent(long number) {
        Range current = range;
        return number >= current.first && number <= current.last.get();
    }

    /** Called while a new connection is made. */
    void beginAnew() {
        range = Range.from(1 + (freshBits.getAsLong() & (STARTS - 1)));
    }
}
