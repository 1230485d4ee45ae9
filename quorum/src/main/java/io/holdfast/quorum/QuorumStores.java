package io.holdfast.quorum;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Opens a lock store that is made of several independent members: RedLock. A name is held when a majority of the
 * members has granted it, so locking continues while a minority of them is down, hangs, or is cut off.
 *
 * <pre>{@code
 * LockClient locks = LockClient.builder()
 *     .store(QuorumStores.builder()
 *         .member("a", context -> ...)
 *         .member("b", context -> ...)
 *         .member("c", context -> ...)::open)
 *     .build();
 * }</pre>
 *
 * <p>For Redis servers there is a URI, {@code redlock://h1,h2,h3}, in the module {@code holdfast-redis}.
 *
 * <p><b>What must hold</b> for mutual exclusion of valid leases:
 *
 * <ul>
 *   <li>The members are independent: none is a replica of another, none shares its failure with another.
 *   <li>Their clocks and the client's run at rates that differ by no more than {@link Builder#clockDrift}, and less
 *       than half of the members' clocks jump during a lease.
 *   <li>Less than half of the members forget what they granted during a lease. A member that forgot, by a restart or
 *       otherwise, has lost its <em>birth key</em> too or has a new run id. It then does not vote for the longest
 *       lease.
 *   <li>All clients have the same members and the same {@link Builder#longestLease}.
 * </ul>
 *
 * <p>When one of these fails, two leases may be valid at once. Even then fencing tokens are unique and grow, as long as
 * the registers for them are kept (see the package's description).
 *
 * @see <a href="https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">Distributed Locks with
 *     Redis</a>
 */
public final class QuorumStores {

    private static final int MEMBERS_MIN = 3;
    private static final int MEMBERS_MAX = 9;

    private QuorumStores() {}

    /** Returns a builder without members, with the default settings. */
    public static Builder builder() {
        return new Builder();
    }

    /** Collects the members and settings. Not thread-safe; a store that was opened does not change with it. */
    public static final class Builder {

        private final List<QuorumOpening.Candidate> candidates = new ArrayList<>();
        private final QuorumSettings settings = new QuorumSettings();

        private Builder() {}

        /**
         * Adds a member.
         *
         * @param description its address, without secrets; different for each member
         * @param opener connects; may block, and throws {@link StoreException} if the member cannot be reached: then it
         *     is called again every second in the background, until it succeeds or the store is closed
         */
        public Builder member(String description, Function<StoreContext, QuorumMember> opener) {
            candidates.add(new QuorumOpening.Candidate(requireNonNull(description), requireNonNull(opener)));
            return this;
        }

        /**
         * Sets how long to wait for one member; 100 ms by default. Waiting ends as soon as a majority agrees, so a
         * member that hangs costs this time only where it would have decided.
         *
         * @throws IllegalArgumentException if shorter than 5 ms or longer than 10 s
         */
        public Builder memberTimeout(Duration timeout) {
            if (timeout.compareTo(Duration.ofMillis(5)) < 0 || timeout.compareTo(Duration.ofSeconds(10)) > 0) {
                throw new IllegalArgumentException("memberTimeout: " + DurationText.of(timeout)
                        + " (expected: from 5 ms to 10 s; much less than a lease)");
            }
            settings.memberTimeout = timeout;
            return this;
        }

        /**
         * Sets the longest lease that any client of this quorum asks for; a minute by default. Longer leases are
         * refused. A member that has lost its data must not vote for that time plus the possible drift of
         * clocks.
         *
         * @throws IllegalArgumentException if shorter than 100 ms or longer than a day
         */
        public Builder longestLease(Duration longest) {
            if (longest.compareTo(Duration.ofMillis(100)) < 0 || longest.compareTo(Duration.ofDays(1)) > 0) {
                throw new IllegalArgumentException(
                        "longestLease: " + DurationText.of(longest) + " (expected: from 100 ms to 1 d)");
            }
            settings.longestLease = longest;
            return this;
        }

        /**
         * Sets the largest difference between the rates of two clocks, beside 2 ms; 0.01, one percent, by default.
         *
         * @throws IllegalArgumentException if less than 0.01 or more than 0.5
         */
        public Builder clockDrift(double fraction) {
            if (!(fraction >= QuorumSettings.DRIFT_OF_THE_ENGINE && fraction <= 0.5)) {
                throw new IllegalArgumentException("clockDrift: " + fraction + " (expected: from 0.01 to 0.5)");
            }
            settings.clockDrift = fraction;
            return this;
        }

        /**
         * Lets a set of members that are all new vote at once; off by default. Set it for the first start of servers
         * that have been running for less than {@link #longestLease}, when nobody can hold a lock there. If it stays
         * on, a set of members that have lost their data <em>all together</em> hands out locks that are still held.
         */
        public Builder bootstrap(boolean on) {
            settings.bootstrap = on;
            return this;
        }

        /** Returns what the builder has collected; for tests. */
        QuorumSettings settings() {
            return settings;
        }

        /**
         * Connects to the members. Blocks until a majority can be used and the others have answered, or have had about
         * a second more for it (with {@link #bootstrap}, up to 30 s). The client continues to connect in the
         * background to members that cannot be reached.
         *
         * @throws IllegalArgumentException if the number of members is even, less than 3 or more than 9, or if two
         *     members are the same server
         * @throws StoreException if no majority can be reached
         */
        public LockStore open(StoreContext context) {
            checkNumber();
            Set<String> seen = new HashSet<>();
            for (QuorumOpening.Candidate candidate : candidates) {
                if (!seen.add(candidate.description())) {
                    throw new IllegalArgumentException("quorum member: \"" + candidate.description()
                            + "\" twice (expected: each server once, or its vote would count twice)");
                }
            }
            return new QuorumOpening(candidates, settings, context).open();
        }

        private void checkNumber() {
            int number = candidates.size();
            if (number < MEMBERS_MIN || number > MEMBERS_MAX) {
                throw new IllegalArgumentException("quorum members: " + number
                        + " (expected: 3, 5, 7 or 9 independent servers; less than 3 cannot lose any)");
            }
            if (number % 2 == 0) {
                throw new IllegalArgumentException("quorum members: " + number + " (expected: an odd number; " + number
                        + " servers tolerate no more failures than " + (number - 1) + " do)");
            }
        }
    }
}
