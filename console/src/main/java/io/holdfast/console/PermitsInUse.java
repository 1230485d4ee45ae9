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
 * Permits of one name, as the cards of the clients say: how many are held, and by whom.
 *
 * @param used how many permits are held
 * @param limits how many there are, as the clients say, the smallest first; several while a new limit is rolled out;
 *     empty if no client says anything
 * @param holders the clients that hold some, those with the most permits first
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/command-line.md#permits-in-these-commands">
 *     permits in these commands</a>
 */
public record PermitsInUse(int used, List<Integer> limits, List<Holder> holders) {

    /**
     * All leases of one client.
     *
     * @param client the client's card
     * @param leases how many leases it has
     * @param permits how many permits these leases have
     * @param heldFor how long the oldest of them has been held
     * @param freeIn when the last of them ends, if nobody has heard of the client for more than three periods; empty if
     *     its client is heard of, or if the store was not asked
     */
    public record Holder(ClientCard client, int leases, int permits, Duration heldFor, Optional<Duration> freeIn) {

        /** Makes the leases of a client that is heard of. */
        public Holder(ClientCard client, int leases, int permits, Duration heldFor) {
            this(client, leases, permits, heldFor, Optional.empty());
        }
    }

    /** Copies the lists. */
    public PermitsInUse {
        limits = List.copyOf(limits);
        holders = List.copyOf(holders);
    }

    /** Returns how many are held of how many: {@code 4/5}, or {@code 4/5,6} with two limits. */
    public String count() {
        return used
                + (limits.isEmpty()
                        ? ""
                        : "/" + limits.stream().map(String::valueOf).collect(Collectors.joining(",")));
    }

    /**
     * Returns one short text for people, without control characters: {@code 4/5 billing@pod-7 x3, orders@pod-2}. Clients
     * of one application on one machine are folded.
     */
    public String title() {
        Map<String, Integer> leases = new LinkedHashMap<>();
        holders.forEach(holder -> leases.merge(
                Names.printable(
                        holder.client().application() + "@" + holder.client().host()),
                holder.leases(),
                Integer::sum));
        return count()
                + leases.entrySet().stream()
                        .map(entry -> entry.getKey() + (entry.getValue() == 1 ? "" : " x" + entry.getValue()))
                        .collect(Collectors.joining(", ", leases.isEmpty() ? "" : " ", ""));
    }
}
