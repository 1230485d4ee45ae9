package io.holdfast.console;

import io.holdfast.ClientCard;
import io.holdfast.spi.Names;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A read-write lock, as the cards of the clients say: who writes and who reads.
 *
 * @param holders the clients that have leases, writers first and then those with the most leases; a client that writes
 *     and reads is in it twice
 * @see <a
 *     href="https://github.com/holdfast-lock/holdfast/blob/main/docs/command-line.md#read-write-locks-in-these-commands">
 *     read-write locks in these commands</a>
 */
public record ReadWriteInUse(List<Holder> holders) {

    /** A half of the lock, which somebody holds or waits for. */
    public enum Mode {
        READ,
        WRITE;

        /** Returns {@code read} or {@code write}. */
        public String text() {
            return this == READ ? "read" : "write";
        }
    }

    /**
     * All leases of one client in one mode.
     *
     * @param client the client's card
     * @param mode whether they read or write
     * @param leases how many leases it has
     * @param heldFor how long the oldest of them has been held
     * @param freeIn when the last of them ends, if nobody has heard of the client for more than three periods; empty if
     *     its client is heard of, or if the store was not asked
     */
    public record Holder(ClientCard client, Mode mode, int leases, Duration heldFor, Optional<Duration> freeIn) {

        /** Makes the leases of a client that is heard of. */
        public Holder(ClientCard client, Mode mode, int leases, Duration heldFor) {
            this(client, mode, leases, heldFor, Optional.empty());
        }
    }

    /** Copies the list. */
    public ReadWriteInUse {
        holders = List.copyOf(holders);
    }

    /**
     * Returns one short text for people, without control characters: {@code write billing@pod-7}, or {@code read
     * billing@pod-7 x3, orders@pod-2}. Clients of one application on one machine are folded. Both modes are in it if a
     * card is of a time before a change.
     */
    public String title() {
        Map<Mode, Map<String, Integer>> leases = new LinkedHashMap<>();
        holders.forEach(holder -> leases.computeIfAbsent(holder.mode(), any -> new LinkedHashMap<>())
                .merge(
                        Names.printable(holder.client().application() + "@"
                                + holder.client().host()),
                        holder.leases(),
                        Integer::sum));
        return leases.entrySet().stream()
                .map(mode -> mode.getKey().text() + " "
                        + mode.getValue().entrySet().stream()
                                .map(entry -> entry.getKey() + (entry.getValue() == 1 ? "" : " x" + entry.getValue()))
                                .collect(Collectors.joining(", ")))
                .collect(Collectors.joining("; "));
    }
}
