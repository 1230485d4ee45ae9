package io.holdfast;

import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The options of a {@link Leadership}. Immutable; each setter returns a changed copy.
 *
 * <pre>{@code
 * LeadershipOptions quick = LeadershipOptions.defaults().stopWithin(ofSeconds(3));
 * Leadership leadership = locks.leadership("billing", term -> scheduler.lead(term), quick);
 * }</pre>
 */
public final class LeadershipOptions {

    private static final LeadershipOptions DEFAULTS = new LeadershipOptions(null);

    private final @Nullable Duration stopWithin;

    private LeadershipOptions(@Nullable Duration stopWithin) {
        this.stopWithin = stopWithin;
    }

    /** Returns the defaults: the listener has a third of the client's lease time to stop. */
    public static LeadershipOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Sets how long the listener may take to stop. When no renewal has succeeded for so long that just this time is
     * left of the lease, the term is revoked. When it has passed after a revocation, the lock is released even if the
     * listener has not stopped.
     *
     * <p>At most a third of the client's {@link LockClient.Builder#leaseTime}: with more, one answer that is lost would
     * end a term.
     *
     * @throws IllegalArgumentException if zero or negative
     */
    public LeadershipOptions stopWithin(Duration time) {
        if (time.isNegative() || time.isZero()) {
            throw new IllegalArgumentException("stopWithin: " + DurationText.of(time)
                    + " (expected: more than zero, and at most a third of the client's lease time)");
        }
        return new LeadershipOptions(time);
    }

    public Optional<Duration> stopWithin() {
        return Optional.ofNullable(stopWithin);
    }

    /** Returns the time to stop for a client with this lease time. */
    Duration stopWithin(long leaseNanos) {
        Duration most = Duration.ofNanos(leaseNanos / 3);
        if (stopWithin != null && stopWithin.compareTo(most) > 0) {
            throw new IllegalArgumentException("stopWithin: " + DurationText.of(stopWithin) + " (expected: at most "
                    + DurationText.of(most) + ", a third of the client's lease time, or a longer leaseTime)");
        }
        return stopWithin == null ? most : stopWithin;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LeadershipOptions that && Objects.equals(stopWithin, that.stopWithin);
    }

    @Override
    public int hashCode() {
        return Objects.hashCode(stopWithin);
    }

    @Override
    public String toString() {
        return "LeadershipOptions[stopWithin=" + stopWithin + "]";
    }
}
