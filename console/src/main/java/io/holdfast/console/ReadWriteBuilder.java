package io.holdfast.console;

import io.holdfast.ClientCard;
import io.holdfast.ClientCard.ReadWriteUse;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.ReadWriteState;
import io.holdfast.console.ReadWriteInUse.Mode;
import io.holdfast.spi.HolderId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Puts together what the cards of all clients say about one read-write lock. Does no I/O. For one use. */
final class ReadWriteBuilder {

    private final String name;
    private final List<ReadWriteInUse.Holder> holders = new ArrayList<>();
    private final List<ReadWriteInUse.Holder> silent = new ArrayList<>();
    private final List<Queued> queue = new ArrayList<>();

    ReadWriteBuilder(String shownName) {
        this.name = shownName.substring(DistributedReadWriteLock.SHOWN_PREFIX.length());
    }

    String name() {
        return name;
    }

    void add(ClientCard client, ReadWriteUse use, boolean isSilent) {
        Mode mode = use.isWriter() ? Mode.WRITE : Mode.READ;
        if (use.leases() > 0) {
            (isSilent ? silent : holders).add(new ReadWriteInUse.Holder(client, mode, use.leases(), use.heldFor()));
        }
        if (use.waiters() > 0 && !isSilent) {
            queue.add(new Queued(client, use.waiters(), use.waited(), Optional.empty(), Optional.of(mode)));
        }
    }

    /** Returns whether the store knows better who has a hold. */
    boolean isUnclear() {
        return !silent.isEmpty();
    }

    /**
     * Returns the row.
     *
     * @param state what the store says; null if it was not asked, so that the cards are believed
     * @param rate leases a second: all, and those that were handed on
     */
    LockRow row(String shownName, @Nullable ReadWriteState state, double[] rate, boolean inCycle) {
        if (state != null) {
            silent.replaceAll(holder -> present(holder, state));
            silent.removeIf(holder -> holder.freeIn().isEmpty());
        }
        List<ReadWriteInUse.Holder> all = new ArrayList<>(holders);
        all.addAll(silent);
        all.sort(Comparator.comparing(ReadWriteInUse.Holder::mode)
                .thenComparing(ReadWriteInUse.Holder::leases)
                .thenComparing(ReadWriteInUse.Holder::heldFor)
                .reversed()
                .thenComparing(holder -> holder.client().id()));
        Set<Flag> flags = EnumSet.noneOf(Flag.class);
        if (inCycle) {
            flags.add(Flag.CYCLE);
        }
        if (!silent.isEmpty()) {
            flags.add(Flag.DEAD);
        }
        return LockRow.of(
                shownName,
                Optional.empty(),
                Optional.empty(),
                Optional.of(new ReadWriteInUse(all)),
                flags,
                queue,
                rate);
    }

    /** Returns what a silent client holds, with its end by the store's answer; without an end if it holds nothing. */
    private static ReadWriteInUse.Holder present(ReadWriteInUse.Holder silent, ReadWriteState state) {
        return new ReadWriteInUse.Holder(
                silent.client(),
                silent.mode(),
                silent.leases(),
                silent.heldFor(),
                state.holds().stream()
                        .filter(hold -> hold.isWriter() == (silent.mode() == Mode.WRITE)
                                && HolderId.client(hold.holder())
                                        .equals(silent.client().id()))
                        .map(ReadWriteState.Hold::remaining)
                        .max(Comparator.naturalOrder()));
    }
}
