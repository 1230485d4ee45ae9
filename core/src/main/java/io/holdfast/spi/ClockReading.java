package io.holdfast.spi;

/**
 * A reading of both clocks of this machine at one instant. The monotonic clock stands still while the machine is
 * suspended, and the wall clock may be set; together they bound how long ago the instant was.
 *
 * <pre>{@code
 * ClockReading sent = ClockReading.now(time);
 * store.acquire(request).thenAccept(reply -> log.info("asked {} ns ago at most", sent.mostAgeNanos(time)));
 * }</pre>
 *
 * @param nanos the monotonic clock
 * @param wallMillis the wall clock
 */
public record ClockReading(long nanos, long wallMillis) {

    private static final long NANOS_PER_MILLI = 1_000_000;

    /** Reads both clocks. */
    public static ClockReading now(TimeSource time) {
        return new ClockReading(time.nanoTime(), time.wallMillis());
    }

    /** Returns the least time since this reading, by the monotonic clock alone: the wall clock may have been set. */
    public long leastAgeNanos(TimeSource time) {
        return time.nanoTime() - nanos;
    }

    /** Returns the most time since this reading, by the clock that advanced further. */
    public long mostAgeNanos(TimeSource time) {
        return mostAgeNanos(now(time));
    }

    /** Returns the most time between this reading and a later one. */
    public long mostAgeNanos(ClockReading later) {
        return Math.max(later.nanos - nanos, (later.wallMillis - wallMillis) * NANOS_PER_MILLI);
    }
}
