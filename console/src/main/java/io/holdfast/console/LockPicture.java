package io.holdfast.console;

import io.holdfast.ClientCard;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * All locks that clients hold or wait for, as their cards say it, and those that they used most of late. A lock that a
 * foreign holder has, and that no client of Holdfast waits for, is not in it.
 *
 * <pre>{@code
 * LockPicture picture = watch.look(List.of("report"));
 * picture.lock("report")
 *         .flatMap(LockRow::holder)
 *         .ifPresent(holder -> log.info("{} makes the report", holder.title()));
 * picture.cycles().forEach(cycle -> alerts.send(cycle.steps().size() + " clients are deadlocked"));
 * }</pre>
 *
 * @param locks in the order of {@link LockRow#BY_URGENCY}
 * @param clients the cards of all clients
 * @param cycles the deadlocks that were seen in two looks and confirmed by the store
 * @param suspectedCycles the deadlocks that need another look, because cards are of different moments; most are none
 * @param possibleCycles clients that wait for each other's locks, perhaps by other threads than those that hold them;
 *     one cycle for each set of clients
 * @param period how often a client writes its card
 * @param unnamedLocks how many locks are held or waited for that have no room on a card
 */
public record LockPicture(
        List<LockRow> locks,
        List<ClientCard> clients,
        List<Cycle> cycles,
        List<Cycle> suspectedCycles,
        List<Cycle> possibleCycles,
        Duration period,
        int unnamedLocks) {

    /** The number of periods after which a client that sent nothing is silent. */
    private static final int SILENT_PERIODS = 3;

    /** Copies the lists. */
    public LockPicture {
        locks = List.copyOf(locks);
        clients = List.copyOf(clients);
        cycles = List.copyOf(cycles);
        suspectedCycles = List.copyOf(suspectedCycles);
        possibleCycles = List.copyOf(possibleCycles);
    }

    /** Returns a lock of the picture. */
    public Optional<LockRow> lock(String name) {
        return locks.stream().filter(row -> row.name().equals(name)).findFirst();
    }

    /** Returns how many leases were handed out a second, of the names that clients used most. */
    public double acquiredPerSecond() {
        double acquired = clients.stream()
                .filter(client -> !isSilent(client))
                .flatMap(client -> client.busiest().stream())
                .mapToDouble(ClientCard.Activity::acquired)
                .sum();
        return acquired / (period.toMillis() / 1e3);
    }

    /** Returns whether nobody has heard of this client for more than three periods. */
    public boolean isSilent(ClientCard client) {
        return isSilent(client, period);
    }

    static boolean isSilent(ClientCard client, Duration period) {
        return client.heard().compareTo(period.multipliedBy(SILENT_PERIODS)) > 0;
    }
}
