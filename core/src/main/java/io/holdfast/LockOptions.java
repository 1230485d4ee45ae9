package io.holdfast;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How to acquire: how long to wait, and how long the lease may last. Immutable; each setter returns a
 * changed copy.
 *
 * <p>Without any option a lease is renewed for as long as it is held.
 */
public final class LockOptions {

    private static final LockOptions DEFAULTS = new LockOptions(null, null, null);

    private final @Nullable Duration waitAtMost;
    private final @Nullable Duration leaseFor;
    private final @Nullable Duration holdAtMost;

    private LockOptions(@Nullable Duration waitAtMost, @Nullable Duration leaseFor, @Nullable Duration holdAtMost) {
        this.waitAtMost = waitAtMost;
        this.leaseFor = leaseFor;
        this.holdAtMost = holdAtMost;
    }

    /** Wait as long as needed (for {@code try} methods: not at all); renew while held. */
    public static LockOptions defaults() {
        return DEFAULTS;
    }

    /**
     * The longest time to wait for the lock, local and remote waiting together; zero means one attempt.
     *
     * @throws IllegalArgumentException if negative or longer than 100 years
     */
    public LockOptions waitAtMost(Duration wait) {
        return new LockOptions(Limits.checkWait("waitAtMost", wait), leaseFor, holdAtMost);
    }

    /**
     * A lease of fixed length, not renewed: it ends by then whatever happens, also at the store.
     *
     * @throws IllegalArgumentException if shorter than 100 ms or longer than a year, or if {@link #holdAtMost} is set
     */
    public LockOptions leaseFor(Duration lease) {
        Limits.checkLease("leaseFor", lease);
        if (holdAtMost != null) {
            throw new IllegalArgumentException("leaseFor: " + lease + " together with holdAtMost: " + holdAtMost
                    + " (expected: one of them; leaseFor is never renewed, holdAtMost is renewed up to a limit)");
        }
        return new LockOptions(waitAtMost, lease, null);
    }

    /**
     * Renewed while held, but for no longer than this in all.
     *
     * @throws IllegalArgumentException if shorter than 100 ms or longer than a year, or if {@link #leaseFor} is set
     */
    public LockOptions holdAtMost(Duration limit) {
        Limits.checkLease("holdAtMost", limit);
        if (leaseFor != null) {
            throw new IllegalArgumentException("holdAtMost: " + limit + " together with leaseFor: " + leaseFor
                    + " (expected: one of them; leaseFor is never renewed, holdAtMost is renewed up to a limit)");
        }
        return new LockOptions(waitAtMost, null, limit);
    }

    public Optional<Duration> waitAtMost() {
        return Optional.ofNullable(waitAtMost);
    }

    public Optional<Duration> leaseFor() {
        return Optional.ofNullable(leaseFor);
    }

    public Optional<Duration> holdAtMost() {
        return Optional.ofNullable(holdAtMost);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LockOptions that
                && Objects.equals(waitAtMost, that.waitAtMost)
                && Objects.equals(leaseFor, that.leaseFor)
                && Objects.equals(holdAtMost, that.holdAtMost);
    }

    @Override
    public int hashCode() {
        return Objects.hash(waitAtMost, leaseFor, holdAtMost);
    }

    @Override
    public String toString() {
        return "LockOptions[waitAtMost=" + waitAtMost + ", leaseFor=" + leaseFor + ", holdAtMost=" + holdAtMost + "]";
    }
}
