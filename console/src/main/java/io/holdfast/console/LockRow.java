package io.holdfast.console;

import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Leadership;
import io.holdfast.Permits;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * One lock, the permits of one name, or one read-write lock: the holders and the waiters.
 *
 * @param name the lock name; for permits {@code permits:NAME}, for a read-write lock {@code read-write:NAME}
 * @param holder the holder; empty if the lock is free, or if its holder is unknown: a lock that is held for moments is on
 *     no card as held; empty for permits and read-write locks
 * @param permits what is known of permits; otherwise empty
 * @param readWrite what is known of a read-write lock; otherwise empty
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
        Optional<PermitsInUse> permits,
        Optional<ReadWriteInUse> readWrite,
        Set<Flag> flags,
        int waiters,
        Duration longestWait,
        List<Queued> queue,
        double acquiredPerSecond,
        double handedOnPerSecond) {

    /** The order in which an operator looks at locks: by longest wait × waiters, then by the time held. */
    public static final Comparator<LockRow> BY_URGENCY = Comparator.comparing(LockRow::pressureSeconds)
            .thenComparing(row -> row.heldFor().orElse(Duration.ZERO))
            .reversed()
            .thenComparing(LockRow::name);

    /**
     * Returns a row with this queue, which may be in any order.
     *
     * @param rate leases a second: all, and those that were handed on
     */
    static LockRow of(
            String name,
            Optional<Holder> holder,
            Optional<PermitsInUse> permits,
            Optional<ReadWriteInUse> readWrite,
            Set<Flag> flags,
            List<Queued> queue,
            double[] rate) {
        List<Queued> ordered = queue.stream()
                .sorted(Comparator.comparing(Queued::waited).reversed())
                .toList();
        return new LockRow(
                name,
                holder,
                permits,
                readWrite,
                flags,
                queue.stream().mapToInt(Queued::waiters).sum(),
                ordered.isEmpty() ? Duration.ZERO : ordered.get(0).waited(),
                ordered,
                rate[0],
                rate[1]);
    }

    /** Returns a lock that nobody holds or waits for, as far as is known. */
    public static LockRow free(String name) {
        return unknown(name, Optional.empty(), Optional.empty());
    }

    /**
     * Returns permits of which no card says anything.
     *
     * @param shownName {@code permits:NAME}
     */
    public static LockRow ofPermits(String shownName) {
        return unknown(shownName, Optional.of(new PermitsInUse(0, List.of(), List.of())), Optional.empty());
    }

    /**
     * Returns a read-write lock of which no card says anything.
     *
     * @param shownName {@code read-write:NAME}
     */
    public static LockRow ofReadWrite(String shownName) {
        return unknown(shownName, Optional.empty(), Optional.of(new ReadWriteInUse(List.of())));
    }

    private static LockRow unknown(String name, Optional<PermitsInUse> permits, Optional<ReadWriteInUse> readWrite) {
        return new LockRow(name, Optional.empty(), permits, readWrite, Set.of(), 0, Duration.ZERO, List.of(), 0, 0);
    }

    /** Returns whether these are permits or a read-write lock, which may have many holders. */
    public boolean isPool() {
        return permits.isPresent() || readWrite.isPresent();
    }

    /** Returns the name without what stands before that of permits or of a read-write lock. */
    public String plainName() {
        return permits.isPresent()
                ? name.substring(Permits.SHOWN_PREFIX.length())
                : readWrite.isPresent() ? name.substring(DistributedReadWriteLock.SHOWN_PREFIX.length()) : name;
    }

    /** Returns how long the present lease, or the oldest one of several, has been held; empty if no card has it. */
    public Optional<Duration> heldFor() {
        return Stream.of(
                        holder.stream().flatMap(one -> one.heldFor().stream()),
                        permits.stream().flatMap(all -> all.holders().stream()).map(PermitsInUse.Holder::heldFor),
                        readWrite.stream()
                                .flatMap(all -> all.holders().stream())
                                .map(ReadWriteInUse.Holder::heldFor))
                .flatMap(ages -> ages)
                .max(Comparator.naturalOrder());
    }

    /**
     * Returns when the hold of a client that is silent ends, or the last of several such holds. Empty if no holder is
     * {@link Flag#DEAD}, or if the store was not asked.
     */
    public Optional<Duration> freeIn() {
        return flags.contains(Flag.DEAD)
                ? Stream.of(
                                holder.stream().map(Holder::endsIn),
                                permits.stream()
                                        .flatMap(all -> all.holders().stream())
                                        .map(PermitsInUse.Holder::freeIn),
                                readWrite.stream()
                                        .flatMap(all -> all.holders().stream())
                                        .map(ReadWriteInUse.Holder::freeIn))
                        .flatMap(ends -> ends)
                        .flatMap(Optional::stream)
                        .max(Comparator.naturalOrder())
                : Optional.empty();
    }

    /** Returns a short text of who holds it; empty if that is nobody, or unknown. */
    public Optional<String> holderTitle() {
        return permits.map(PermitsInUse::title)
                .or(() -> readWrite.map(ReadWriteInUse::title).filter(title -> !title.isEmpty()))
                .or(() -> holder.map(Holder::title));
    }

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
