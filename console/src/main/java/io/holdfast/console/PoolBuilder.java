package io.holdfast.console;

import io.holdfast.ClientCard;
import io.holdfast.ClientCard.PermitsUse;
import io.holdfast.Permits;
import io.holdfast.PermitsState;
import io.holdfast.spi.HolderId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Puts together what the cards of all clients say about permits of one name. Does no I/O. For one use. */
final class PoolBuilder {

    private final String name;
    private final Set<Integer> limits = new TreeSet<>();
    private final Map<String, PermitsInUse.Holder> holders = new HashMap<>(); // by client id
    private final Map<String, PermitsInUse.Holder> silent = new HashMap<>(); // by client id
    private final List<Queued> queue = new ArrayList<>();

    PoolBuilder(String shownName) {
        this.name = shownName.substring(Permits.SHOWN_PREFIX.length());
    }

    String name() {
        return name;
    }

    void add(ClientCard client, PermitsUse use, boolean isSilent) {
        limits.add(use.limit());
        if (use.leases() > 0) {
            // A client with two limits of the name has two lines.
            (isSilent ? silent : holders)
                    .merge(
                            client.id(),
                            new PermitsInUse.Holder(client, use.leases(), use.held(), use.heldFor()),
                            PoolBuilder::together);
        }
        if (use.waiters() > 0 && !isSilent) {
            queue.add(new Queued(client, use.waiters(), use.waited(), Optional.empty()));
        }
    }

    private static PermitsInUse.Holder together(PermitsInUse.Holder one, PermitsInUse.Holder other) {
        return new PermitsInUse.Holder(
                one.client(),
                one.leases() + other.leases(),
                one.permits() + other.permits(),
                one.heldFor().compareTo(other.heldFor()) >= 0 ? one.heldFor() : other.heldFor());
    }

    /** Returns whether the store knows better who holds permits. */
    boolean isUnclear() {
        return !silent.isEmpty();
    }

    /**
     * Returns the row.
     *
     * @param state what the store says; null if it was not asked, so that the cards are believed
     * @param rate leases a second: all, and those that were handed on
     */
    LockRow row(String shownName, @Nullable PermitsState state, double[] rate) {
        if (state != null) {
            silent.replaceAll((id, holder) -> present(holder, state));
            silent.values().removeIf(holder -> holder.leases() == 0);
        }
        List<PermitsInUse.Holder> all = new ArrayList<>(holders.values());
        all.addAll(silent.values());
        all.sort(Comparator.comparingInt(PermitsInUse.Holder::permits)
                .thenComparing(PermitsInUse.Holder::heldFor)
                .reversed()
                .thenComparing(holder -> holder.client().id()));
        int used = all.stream().mapToInt(PermitsInUse.Holder::permits).sum();
        return LockRow.of(
                shownName,
                Optional.empty(),
                Optional.of(new PermitsInUse(state == null ? used : state.used(), List.copyOf(limits), all)),
                Optional.empty(),
                silent.isEmpty() ? Set.of() : Set.of(Flag.DEAD),
                queue,
                rate);
    }

    /** Returns what a silent client holds by the store's answer. */
    private static PermitsInUse.Holder present(PermitsInUse.Holder silent, PermitsState state) {
        List<PermitsState.Hold> holds = state.holds().stream()
                .filter(hold ->
                        HolderId.client(hold.holder()).equals(silent.client().id()))
                .toList();
        return new PermitsInUse.Holder(
                silent.client(),
                holds.size(),
                holds.stream().mapToInt(PermitsState.Hold::permits).sum(),
                holds.isEmpty() ? Duration.ZERO : silent.heldFor(),
                holds.stream().map(PermitsState.Hold::remaining).max(Comparator.naturalOrder()));
    }
}
