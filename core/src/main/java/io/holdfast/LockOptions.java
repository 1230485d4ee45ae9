package io.holdfast;

import io.holdfast.engine.Limits;
import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The options of an acquisition: how long to wait, and how long the lease may last. Immutable; each setter returns a
 * changed copy.
 *
 * <pre>{@code
 * LockOptions atMostAMinute = LockOptions.defaults().waitAtMost(ofSeconds(10)).holdAtMost(ofMinutes(1));
 * try (Lease lease = locks.acquire("report", atMostAMinute)) {
 *     write(report);
 * }
 * }</pre>
 *
 * <p>Without any option, the client renews a lease for as long as it is held.
 */
public final class LockOptions {

    /** Who releases the lease. */
    private enum Releaser {
        ANY_THREAD,
        /** The calling thread, as the caller declares: another thread that releases the lease is not refused. */
        DECLARED_THREAD,
        /** The calling thread, which runs a task under the lease: any other thread is refused. */
        TASK_THREAD
    }

    private static final LockOptions DEFAULTS =
            new LockOptions(null, null, null, null, false, Releaser.ANY_THREAD, false, false);

    private final @Nullable Duration waitAtMost;
    private final @Nullable Duration leaseFor;
    private final @Nullable Duration holdAtMost;
    private final @Nullable Duration tenure;
    private final boolean fair;
    private final Releaser releaser;
    private final boolean ignoresDeadlocks;
    private final boolean leftAtClose;

    private LockOptions(
            @Nullable Duration waitAtMost,
            @Nullable Duration leaseFor,
            @Nullable Duration holdAtMost,
            @Nullable Duration tenure,
            boolean fair,
            Releaser releaser,
            boolean ignoresDeadlocks,
            boolean leftAtClose) {
        this.waitAtMost = waitAtMost;
        this.leaseFor = leaseFor;
        this.holdAtMost = holdAtMost;
        this.tenure = tenure;
        this.fair = fair;
        this.releaser = releaser;
        this.ignoresDeadlocks = ignoresDeadlocks;
        this.leftAtClose = leftAtClose;
    }

    /** Returns the defaults: wait as long as needed ({@code try} methods do not wait), renew while held. */
    public static LockOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Sets the longest time to wait for the lock, local and remote waiting together; zero means one attempt.
     *
     * @throws IllegalArgumentException if negative or longer than 100 years
     */
    public LockOptions waitAtMost(Duration wait) {
        Limits.checkWait("waitAtMost", wait);
        return new LockOptions(wait, leaseFor, holdAtMost, tenure, fair, releaser, ignoresDeadlocks, leftAtClose);
    }

    /**
     * Sets a lease of fixed length, which is not renewed: it always ends after this time, even at the store.
     *
     * @throws IllegalArgumentException if shorter than 100 ms or longer than a year, or if {@link #holdAtMost} is set
     */
    public LockOptions leaseFor(Duration lease) {
        Limits.checkLease("leaseFor", lease);
        if (holdAtMost != null) {
            throw new IllegalArgumentException(
                    "leaseFor: " + DurationText.of(lease) + " together with holdAtMost: " + DurationText.of(holdAtMost)
                            + " (expected: one of them; leaseFor is never renewed, holdAtMost is renewed up to a"
                            + " limit)");
        }
        return new LockOptions(waitAtMost, lease, null, tenure, fair, releaser, ignoresDeadlocks, leftAtClose);
    }

    /**
     * Sets the longest time for which the client renews a lease, from its grant to its end.
     *
     * @throws IllegalArgumentException if shorter than 100 ms or longer than a year, or if {@link #leaseFor} is set
     */
    public LockOptions holdAtMost(Duration limit) {
        Limits.checkLease("holdAtMost", limit);
        if (leaseFor != null) {
            throw new IllegalArgumentException(
                    "holdAtMost: " + DurationText.of(limit) + " together with leaseFor: " + DurationText.of(leaseFor)
                            + " (expected: one of them; leaseFor is never renewed, holdAtMost is renewed up to a"
                            + " limit)");
        }
        return new LockOptions(waitAtMost, null, limit, tenure, fair, releaser, ignoresDeadlocks, leftAtClose);
    }

    /** Returns the longest time to wait; empty if none was set. */
    public Optional<Duration> waitAtMost() {
        return Optional.ofNullable(waitAtMost);
    }

    /** Returns the fixed length of the lease; empty if none was set. */
    public Optional<Duration> leaseFor() {
        return Optional.ofNullable(leaseFor);
    }

    /** Returns the longest time for which the lease is renewed; empty if none was set. */
    public Optional<Duration> holdAtMost() {
        return Optional.ofNullable(holdAtMost);
    }

    /**
     * Sets strict order of arrival among the waiters of this client. The default is faster: there a running thread may
     * take the lock before a parked thread that has waited for less than a millisecond. It may also take the lock
     * within 100 µs after a hand-out to a thread that had waited for longer.
     */
    public LockOptions fair() {
        return new LockOptions(waitAtMost, leaseFor, holdAtMost, tenure, true, releaser, ignoresDeadlocks, leftAtClose);
    }

    /**
     * Sets how long this client may pass the lock from one of its waiters to the next while another client waits; 10 ms
     * by default. Zero lets each release pass the lock to the other client. A longer tenure raises
     * throughput and lowers fairness.
     *
     * @throws IllegalArgumentException if negative or longer than a minute
     */
    public LockOptions tenure(Duration tenure) {
        Limits.checkTenure(tenure);
        return new LockOptions(waitAtMost, leaseFor, holdAtMost, tenure, fair, releaser, ignoresDeadlocks, leftAtClose);
    }

    /**
     * Declares that the calling thread itself releases the lease, as a {@code try} block does. When that thread then
     * waits without limit for the same name, it would wait for itself; with this option, {@code acquire} and {@code
     * lock} throw {@link IllegalStateException} instead. While that thread lives, its lease is {@link #leftAtClose}
     * when another thread closes the client. The lambda forms of {@link LockClient} that run on the calling thread set
     * this option.
     */
    public LockOptions releasedByThread() {
        return new LockOptions(
                waitAtMost,
                leaseFor,
                holdAtMost,
                tenure,
                fair,
                Releaser.DECLARED_THREAD,
                ignoresDeadlocks,
                leftAtClose);
    }

    /** Returns whether {@link #releasedByThread} or a lambda form says that the calling thread releases the lease. */
    public boolean isReleasedByThread() {
        return releaser != Releaser.ANY_THREAD;
    }

    /** Sets that only the calling thread can release the lease: for a form that releases the lease itself. */
    LockOptions forTask() {
        return new LockOptions(
                waitAtMost, leaseFor, holdAtMost, tenure, fair, Releaser.TASK_THREAD, ignoresDeadlocks, leftAtClose);
    }

    boolean isForTask() {
        return releaser == Releaser.TASK_THREAD;
    }

    /**
     * Switches off the check of this wait for a deadlock, for a thread that another one may interrupt or that waits for
     * a lock that may be released by force. Such a wait is no part of another wait's deadlock either: see {@link
     * DeadlockException}. A {@link DistributedLock} is always checked.
     */
    public LockOptions ignoreDeadlocks() {
        return new LockOptions(waitAtMost, leaseFor, holdAtMost, tenure, fair, releaser, true, leftAtClose);
    }

    /** Returns whether {@link #ignoreDeadlocks} is set. */
    public boolean ignoresDeadlocks() {
        return ignoresDeadlocks;
    }

    /**
     * Declares that the work under the lease may go on after the client was closed, because it runs in a call that the
     * close does not end. The close tells such a lease its loss, as every other, but does not release it: the name
     * stays locked until the lease has run out. The lambda forms of {@link LockClient} set this option.
     */
    public LockOptions leftAtClose() {
        return new LockOptions(waitAtMost, leaseFor, holdAtMost, tenure, fair, releaser, ignoresDeadlocks, true);
    }

    /** Returns whether {@link #leftAtClose} is set. */
    public boolean isLeftAtClose() {
        return leftAtClose;
    }

    /** Returns whether {@link #fair} is set. */
    public boolean isFair() {
        return fair;
    }

    /** Returns the tenure; empty if none was set. */
    public Optional<Duration> tenure() {
        return Optional.ofNullable(tenure);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LockOptions that
                && Objects.equals(waitAtMost, that.waitAtMost)
                && Objects.equals(leaseFor, that.leaseFor)
                && Objects.equals(holdAtMost, that.holdAtMost)
                && Objects.equals(tenure, that.tenure)
                && fair == that.fair
                && releaser == that.releaser
                && ignoresDeadlocks == that.ignoresDeadlocks
                && leftAtClose == that.leftAtClose;
    }

    @Override
    public int hashCode() {
        return Objects.hash(waitAtMost, leaseFor, holdAtMost, tenure, fair, releaser, ignoresDeadlocks, leftAtClose);
    }

    @Override
    public String toString() {
        return "LockOptions[waitAtMost=" + waitAtMost + ", leaseFor=" + leaseFor + ", holdAtMost=" + holdAtMost
                + ", tenure=" + tenure + ", fair=" + fair
                + (isReleasedByThread() ? ", releasedByThread=true" : "")
                + (ignoresDeadlocks ? ", ignoresDeadlocks=true" : "")
                + (leftAtClose ? ", leftAtClose=true]" : "]");
    }
}
