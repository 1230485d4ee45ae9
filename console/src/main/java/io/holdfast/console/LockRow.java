package io.holdfast.console;

import io.holdfast.Leadership;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One lock: its holder and its waiters.
 *
 * @param name the lock name
 * @param holder the holder; empty if the lock is free, or if its holder is unknown: a lock that is held for moments is on
 *     no card as held
 * @param flags what is remarkable, in the order of {@link Flag}
 * @param waiters how many callers of all clients wait
 * @param longestWait how long the first of them has waited; zero if none waits
 * @param queue the clients of the waiters, the longest wait first
 * @param acquiredPerSecond how many leases were handed out a second, over the last period of each client
 * @param handedOnPerSecond how many of them without a command, within a client
 * @see <a
 *     href="https://github.com/holdfast-lock/holdfast/blob/main/docs/command-line.md#ls-which-locks-are-held-or-waited-for">
 *     ls: which locks are held or waited for?</a>
 */
public record LockRow(
        String name,
        Optional<Holder> holder,
        Set<Flag> flags,
        int waiters,
        Duration longestWait,
        List<Queued> queue,
        double acquiredPerSecond,
        double handedOnPerSecond) {

    /** The order in which an operator looks at locks: by longest wait × waiters, then by the time held. */
    public static final Comparator<LockRow> BY_URGENCY = Comparator.comparing(LockRow::pressureSeconds)
            .thenComparing(row -> row.holder().flatMap(Holder::heldFor).orElse(Duration.ZERO))
            .reversed()
            .thenComparing(LockRow::name);

    /** Returns the longest wait × the number of waiters; zero for a leadership, as candidates wait by design. */
    public double pressureSeconds() {
        return name.startsWith(Leadership.LOCK_PREFIX) ? 0 : longestWait.toMillis() / 1e3 * waiters;
    }

    /** Says what a release by force would cause, if this is still the holder. */
    public String consequenceOfRelease(Holder present) {
        String next = waiters == 0 ? "The next client that asks" : "A waiter";
        if (flags.contains(Flag.DEAD)) {
            return next + " gets the lock now instead of"
                    + present.endsIn().map(left -> " in " + Ages.of(left)).orElse(" later")
                    + ". If the holder is only stopped, it finds out when it goes on; writes without a fencing token may"
                    + " come late.";
        }
        if (flags.contains(Flag.FOREIGN)) {
            return next + " gets the lock at once. The holder is no client of Holdfast and may never notice, so both"
                    + " work at the same time.";
        }
        return next
                + " gets the lock at once. The holder is told of it, or notices at its next renewal, within a third of a"
                + " lease; until then both work at the same time.";
    }
}
