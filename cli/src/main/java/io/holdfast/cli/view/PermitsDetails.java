package io.holdfast.cli.view;

import io.holdfast.ClientCard;
import io.holdfast.Permits;
import io.holdfast.PermitsState;
import io.holdfast.cli.console.Shell;
import io.holdfast.console.Ages;
import io.holdfast.console.LockRow;
import io.holdfast.console.PermitsInUse;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.Names;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Describes all that is known of permits of one name, in lines.
 *
 * @param row what the cards say
 * @param state what the store says; null if it was not asked
 * @param storeOption as in {@link LockDetails}
 */
public record PermitsDetails(LockRow row, @Nullable PermitsState state, String storeOption) {

    /** So many holds have a line each; more are folded. */
    private static final int HOLDS_MAX = 20;

    /** Returns the lines, without control characters. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        PermitsInUse cards = row.permits().orElseThrow();
        LockDetails.field(lines, "permits", row.name().substring(Permits.SHOWN_PREFIX.length()));
        LockDetails.field(lines, "used", used(cards));
        if (state == null) {
            cards.holders().forEach(holder -> lines.add("  " + line(holder)));
        } else if (state.holds().size() <= HOLDS_MAX) {
            state.holds().forEach(hold -> lines.add("  " + line(hold)));
        } else {
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

    private static String permits(int count) {
        return count == 1 ? "1 permit" : count + " permits";
    }

    private static String line(PermitsInUse.Holder holder) {
        return holder.client().title() + ": " + permits(holder.permits())
                + (holder.leases() == holder.permits() ? "" : " by " + leases(holder.leases())) + ", the oldest for "
                + Ages.of(holder.heldFor());
    }

    private static String leases(int count) {
        return count == 1 ? "1 lease" : count + " leases";
    }

    private static String line(PermitsState.Hold hold) {
        return Names.printable(hold.holder()) + ": " + permits(hold.permits()) + ", ends in "
                + Ages.of(hold.remaining()) + " unless renewed"
                + hold.holderCard()
                        .map(ClientCard::title)
                        .map(title -> ", " + title)
                        .orElse("");
    }

    /** Adds a line for each client, of at most so many clients. */
    private static void addFolded(List<String> lines, PermitsState state) {
        Map<String, List<PermitsState.Hold>> clients = new LinkedHashMap<>();
        state.holds()
                .forEach(hold -> clients.computeIfAbsent(HolderId.client(hold.holder()), any -> new ArrayList<>())
                        .add(hold));
        clients.entrySet().stream().limit(HOLDS_MAX).forEach(client -> {
            List<PermitsState.Hold> holds = client.getValue();
            lines.add("  "
                    + holds.get(0).holderCard().map(ClientCard::title).orElse(Names.printable(client.getKey())) + ": "
                    + permits(
                            holds.stream().mapToInt(PermitsState.Hold::permits).sum()) + " by "
                    + leases(holds.size()));
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
                        : "the name has control characters, so use Permits.forceRelease"));
        lines.add(
                "  Its permits are free at once. The holder is told of it, or notices at its next renewal, within a third"
                        + " of a lease; until then it works on.");
    }

    /** Returns the id of the only holder, if the store says so, as a word of a shell. */
    private String holder() {
        return state != null && state.holds().size() == 1
                ? Shell.word(state.holds().get(0).holder())
                : "ID";
    }
}
