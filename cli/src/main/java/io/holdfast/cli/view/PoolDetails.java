package io.holdfast.cli.view;

import io.holdfast.ClientCard;
import io.holdfast.cli.console.Shell;
import io.holdfast.cli.view.PoolState.Kind;
import io.holdfast.console.Ages;
import io.holdfast.console.LockRow;
import io.holdfast.console.PermitsInUse;
import io.holdfast.console.ReadWriteInUse;
import io.holdfast.spi.Names;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Describes all that is known of permits of one name, or of a read-write lock, in lines.
 *
 * @param row what the cards say
 * @param state what the store says; null if it was not asked
 * @param storeOption as in {@link LockDetails}
 */
public record PoolDetails(LockRow row, @Nullable PoolState state, String storeOption) {

    /** So many holds have a line each; more are folded. */
    private static final int HOLDS_MAX = 20;

    /** Returns a row of which no card says anything. */
    public static LockRow unknown(Kind kind, String name) {
        String shown = kind.prefix() + name;
        return kind == Kind.PERMITS ? LockRow.ofPermits(shown) : LockRow.ofReadWrite(shown);
    }

    /** Returns the lines, without control characters. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        row.permits().ifPresent(cards -> {
            LockDetails.field(lines, "name", row.name());
            LockDetails.field(lines, "used", used(cards));
            if (state == null) {
                cards.holders().forEach(holder -> lines.add("  " + line(holder)));
            }
        });
        row.readWrite().ifPresent(cards -> {
            LockDetails.field(lines, "name", row.name());
            if (state == null) {
                LockDetails.field(lines, "held by", cards.holders().isEmpty() ? "nobody" : cards.title());
                cards.holders().forEach(holder -> lines.add("  " + line(holder)));
            } else {
                LockDetails.field(lines, "held", state.held());
            }
        });
        if (state != null && state.holds().size() <= HOLDS_MAX) {
            state.holds().forEach(hold -> lines.add("  " + line(state, hold)));
        } else if (state != null) {
            addFolded(lines, state);
        }
        if (!row.flags().isEmpty()) {
            LockDetails.field(lines, "flags", LockTable.flags(row));
        }
        LockDetails.addQueue(lines, row);
        if (state == null || state.isUsed()) {
            addBreaking(lines);
        }
        return lines;
    }

    private String used(PermitsInUse cards) {
        int used = state == null ? cards.used() : state.used();
        return switch (cards.limits().size()) {
            case 0 -> used + ", of a limit that no card has yet";
            case 1 -> used + " of " + cards.limits().get(0);
            default ->
                used + "; the clients have several limits: "
                        + String.join(
                                ", ",
                                cards.limits().stream().map(String::valueOf).toList());
        };
    }

    private static String line(PermitsInUse.Holder holder) {
        return holder.client().title() + ": " + PoolState.permits(holder.permits())
                + (holder.leases() == holder.permits() ? "" : " by " + leases(holder.leases())) + ", the oldest for "
                + Ages.of(holder.heldFor()) + silent(holder.freeIn());
    }

    private static String line(ReadWriteInUse.Holder holder) {
        String noun = holder.mode() == ReadWriteInUse.Mode.WRITE ? " writer" : " reader";
        return holder.client().title() + ": " + holder.leases() + noun + (holder.leases() == 1 ? "" : "s")
                + ", the oldest for " + Ages.of(holder.heldFor()) + silent(holder.freeIn());
    }

    private static String silent(Optional<Duration> freeIn) {
        return freeIn.map(left -> "; silent, free in " + Ages.of(left)).orElse("");
    }

    private static String leases(int count) {
        return count == 1 ? "1 lease" : count + " leases";
    }

    private String line(PoolState state, PoolState.Hold hold) {
        return Names.printable(hold.holder()) + ": " + state.share(hold) + ", ends in "
                + Ages.of(hold.remaining())
                + (isSilent(hold.client()) ? " (its client is silent)" : " unless renewed")
                + hold.card().map(ClientCard::title).map(title -> ", " + title).orElse("");
    }

    /** Returns whether nobody has heard of the client for a while, so that nobody renews its holds. */
    private boolean isSilent(String client) {
        return Stream.concat(
                        row.permits().stream()
                                .flatMap(cards -> cards.holders().stream())
                                .filter(holder -> holder.freeIn().isPresent())
                                .map(PermitsInUse.Holder::client),
                        row.readWrite().stream()
                                .flatMap(cards -> cards.holders().stream())
                                .filter(holder -> holder.freeIn().isPresent())
                                .map(ReadWriteInUse.Holder::client))
                .anyMatch(card -> card.id().equals(client));
    }

    /** Adds a line for each client, of at most so many clients. */
    private static void addFolded(List<String> lines, PoolState state) {
        Map<String, List<PoolState.Hold>> clients = new LinkedHashMap<>();
        state.holds()
                .forEach(hold -> clients.computeIfAbsent(hold.client(), any -> new ArrayList<>())
                        .add(hold));
        clients.entrySet().stream().limit(HOLDS_MAX).forEach(client -> {
            List<PoolState.Hold> holds = client.getValue();
            lines.add("  "
                    + holds.get(0).card().map(ClientCard::title).orElse(Names.printable(client.getKey())) + ": "
                    + (state.kind() == Kind.PERMITS
                            ? PoolState.permits(holds.stream()
                                            .mapToInt(PoolState.Hold::permits)
                                            .sum()) + " by " + leases(holds.size())
                            : holds.size() + (holds.size() == 1 ? " hold" : " holds")));
        });
        lines.add("  " + (clients.size() > HOLDS_MAX ? "and " + (clients.size() - HOLDS_MAX) + " more clients; " : "")
                + "inspect --json has the ids of the holders");
    }

    private void addBreaking(List<String> lines) {
        lines.add("");
        boolean plain = Names.printable(row.name()).equals(row.name());
        lines.add("To end one hold: "
                + (plain
                        ? "holdfast release --yes --holder " + holder() + " " + storeOption + Shell.word(row.name())
                        : "the name has control characters, so use "
                                + (row.permits().isPresent() ? "Permits" : "DistributedReadWriteLock")
                                + ".forceRelease"));
        if (state == null) {
            lines.add("  The ids are shown by: holdfast inspect " + storeOption + Shell.word(row.name()));
        }
        lines.add((row.permits().isPresent() ? "  Its permits are free" : "  What it excludes may go on")
                + " at once. The holder is told of it, or notices at its next renewal, within a third of a lease; until"
                + " then it works on.");
    }

    /** Returns the id of the only holder, if the store says so, as a word of a shell. */
    private String holder() {
        return state != null && state.holds().size() == 1
                ? Shell.word(state.holds().get(0).holder())
                : "ID";
    }
}
