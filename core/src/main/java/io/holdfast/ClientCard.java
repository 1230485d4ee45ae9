package io.holdfast;

import io.holdfast.spi.Names;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The description that a client gives of itself at the store: its name, the locks it holds, and the locks it waits for. A
 * client writes its card every few seconds. A card is for people: it may be out of date, and every client of the store
 * can forge it, so nothing may be decided by it.
 *
 * <pre>{@code
 * for (ClientCard card : locks.cards()) {
 *     log.info("{} holds {} and waits for {} locks", card.title(), card.heldCount(), card.waitingCount());
 *     card.hold("report").ifPresent(hold -> log.info("It has held the report for {}", hold.heldFor()));
 * }
 * }</pre>
 *
 * <p>All texts are the writer's. Lock names are exact and may contain any character; in other texts, escapes replace
 * control characters. Escape all of them where they are shown, for example in HTML.
 *
 * @param id the client's id: the part of its holder ids before the colon
 * @param application the client's name, see {@link LockClient.Builder#clientName}
 * @param host the name of its machine
 * @param pid the id of its process
 * @param version the version of Holdfast
 * @param heard how long ago the client was last heard of
 * @param held the locks that it holds, the oldest first, at most 200
 * @param heldCount how many it holds in all
 * @param waiting the locks that callers of it wait for, the longest wait first, at most 200
 * @param waitingCount for how many locks in all
 * @param permits the permits that it holds or that callers of it wait for, a line for each name, at most 200
 * @param readWrite the read-write locks that it holds or that callers of it wait for, a line for each name and half, at
 *     most 200
 * @param busiest the locks that it used most since the card before, at most 50; permits as {@code permits:NAME}, the
 *     halves of a read-write lock as {@code read:NAME} and {@code write:NAME}
 */
public record ClientCard(
        String id,
        String application,
        String host,
        long pid,
        String version,
        Duration heard,
        List<HeldLock> held,
        int heldCount,
        List<WaitedLock> waiting,
        int waitingCount,
        List<PermitsUse> permits,
        List<ReadWriteUse> readWrite,
        List<Activity> busiest) {

    /**
     * A lock that the client holds.
     *
     * @param holderId the id by which the store knows the hold
     * @param heldFor how long the present lease has been held
     * @param remaining how long the lease lasts at most; empty if it is renewed for as long as it is held
     * @param waiters how many callers of this client wait for the lock
     * @param longestWait how long the first of them has waited; zero if none waits
     * @param thread the thread that holds it, if the client tells
     * @param traceParent the trace in which it was acquired, in the W3C's form {@code 00-<trace>-<span>-<flags>}, if
     *     the client has a {@link LockTracer}
     * @param owner a number of the only thread that releases it, the same for all of this client's locks and waits of
     *     that thread; empty if any thread may release it
     */
    public record HeldLock(
            String name,
            String holderId,
            long fencingToken,
            Duration heldFor,
            Optional<Duration> remaining,
            int waiters,
            Duration longestWait,
            Optional<String> thread,
            Optional<String> traceParent,
            OptionalLong owner) {

        /** Returns the id of that trace: 32 hexadecimal digits. */
        public Optional<String> traceId() {
            return traceParent.map(text -> text.substring(3, 35));
        }
    }

    /**
     * A lock that callers of the client wait for while another client holds it.
     *
     * @param waited how long the first of them has waited
     * @param waiters how many wait
     * @param holder the holder when the store last answered, as {@link LockState#holder} shows it
     * @param thread the first thread that waits, if the client tells
     * @param owner the number of the first thread that waits, as in {@link HeldLock#owner}; empty if no thread does
     */
    public record WaitedLock(
            String name,
            Duration waited,
            int waiters,
            Optional<String> holder,
            Optional<String> thread,
            OptionalLong owner) {}

    /**
     * Permits of one name that the client holds, or that callers of it wait for, all of them together.
     *
     * @param name the name of the permits
     * @param limit how many there are, as these callers say; a client with two limits has a line for each
     * @param leases how many leases of them the client has
     * @param held how many permits these leases have
     * @param heldFor how long the oldest of these leases has been held; zero without one
     * @param waiters how many callers wait
     * @param waited how long the first of them has waited; zero if none waits
     */
    public record PermitsUse(
            String name, int limit, int leases, int held, Duration heldFor, int waiters, Duration waited) {}

    /**
     * The readers or the writers of a read-write lock in this client, all of them together.
     *
     * @param name the name of the read-write lock
     * @param isWriter whether these are writers
     * @param leases how many leases they have
     * @param heldFor how long the oldest of these leases has been held; zero without one
     * @param holderId the id by which the store knows the hold of the oldest lease; empty without one
     * @param owner the number of the only thread that releases the oldest lease, as in {@link HeldLock#owner}
     * @param waiters how many callers wait
     * @param waited how long the first of them has waited; zero if none waits
     * @param waitingOwner the number of the first thread that waits, as in {@link WaitedLock#owner}
     */
    public record ReadWriteUse(
            String name,
            boolean isWriter,
            int leases,
            Duration heldFor,
            Optional<String> holderId,
            OptionalLong owner,
            int waiters,
            Duration waited,
            OptionalLong waitingOwner) {}

    /**
     * The events of a lock in this client since the card before.
     *
     * @param acquired how many leases were handed out
     * @param handedOn how many of them without a command: by the owner before, or beside another reader
     * @param notAcquired how many waits ended without a lease
     * @param waited the sum of the waits for these leases
     */
    public record Activity(String name, long acquired, long handedOn, long notAcquired, Duration waited) {}

    /** Returns one short text for people, such as {@code billing@pod-7 (pid 4711)}, without control characters. */
    public String title() {
        return Names.printable(application) + "@" + Names.printable(host) + " (pid " + pid + ")";
    }

    /** Returns this client's hold on a name, if the card has it. */
    public Optional<HeldLock> hold(String name) {
        return held.stream().filter(lock -> lock.name().equals(name)).findFirst();
    }
}
