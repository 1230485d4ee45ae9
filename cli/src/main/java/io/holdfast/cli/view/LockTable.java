package io.holdfast.cli.view;

import io.holdfast.cli.screen.Table;
import io.holdfast.cli.screen.Table.Cell;
import io.holdfast.cli.screen.Table.Kind;
import io.holdfast.cli.screen.Tone;
import io.holdfast.console.Ages;
import io.holdfast.console.Cycle;
import io.holdfast.console.Flag;
import io.holdfast.console.Holder;
import io.holdfast.console.LockRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Draws locks as rows, and cycles as chains. */
public final class LockTable {

    private static final String NONE = "-";

    private LockTable() {}

    /** Returns a row for each lock, in the given order. */
    public static Table of(List<LockRow> locks) {
        Table table = new Table()
                .column("NAME", Kind.TEXT)
                .column("HOLDER", Kind.TITLE)
                .column("HELD", Kind.EXTRA)
                .column("ENDS", Kind.WHOLE)
                .column("WAITERS", Kind.NUMBER)
                .column("OLDEST", Kind.NUMBER)
                .column("LOCKS/S", Kind.EXTRA)
                .column("FLAGS", Kind.WHOLE);
        for (LockRow lock : locks) {
            Tone tone = tone(lock);
            table.add(
                    new Cell(lock.name(), tone),
                    Cell.of(lock.holderTitle().orElse(NONE)),
                    Cell.of(lock.heldFor().map(Ages::of).orElse(NONE)),
                    Cell.of(ends(lock)),
                    Cell.of(lock.waiters()),
                    Cell.of(lock.waiters() == 0 ? NONE : Ages.of(lock.longestWait())),
                    Cell.of(rate(lock.acquiredPerSecond())),
                    new Cell(flags(lock), tone));
        }
        return table;
    }

    private static Tone tone(LockRow lock) {
        if (lock.flags().contains(Flag.DEAD) || lock.flags().contains(Flag.CYCLE)) {
            return Tone.BAD;
        }
        return lock.flags().isEmpty() || lock.waiters() == 0 ? Tone.PLAIN : Tone.WARN;
    }

    /** Returns when the hold ends: "renewed" if the holder renews it. */
    static String ends(LockRow lock) {
        if (lock.holder().isEmpty()) {
            return NONE;
        }
        Holder holder = lock.holder().get();
        if (lock.flags().contains(Flag.NO_EXPIRY)) {
            return "never";
        }
        if (holder.isRenewed() && !lock.flags().contains(Flag.DEAD)) {
            return "renewed";
        }
        return holder.endsIn().map(left -> "in " + Ages.of(left)).orElse("unknown");
    }

    /** Returns the flags in one text: {@code DEAD free in 7.2s, CYCLE}. */
    static String flags(LockRow lock) {
        return lock.flags().stream()
                .map(flag -> flag == Flag.DEAD
                        ? flag
                                + lock.freeIn()
                                        .map(left -> " free in " + Ages.of(left))
                                        .orElse("")
                        : flag.toString())
                .collect(Collectors.joining(", "));
    }

    static String rate(double perSecond) {
        return perSecond == 0 ? NONE : String.format(Locale.ROOT, perSecond < 10 ? "%.1f" : "%.0f", perSecond);
    }

    /** Returns the tone of a cycle's drawing. */
    public static Tone tone(Cycle cycle) {
        return cycle.isDeadlock() ? Tone.BAD : Tone.PLAIN;
    }

    /** Draws a cycle: a line above, and one for each client. The texts are not escaped. */
    public static List<String> drawing(Cycle cycle) {
        List<String> lines = new ArrayList<>();
        lines.add(
                cycle.isDeadlock()
                        ? "CYCLE: " + cycle.steps().size() + " clients wait for each other"
                        : "possible: these " + cycle.steps().size()
                                + " processes wait for each other's locks; their thread dumps tell whether they are"
                                + " stuck");
        for (int i = 0; i < cycle.steps().size(); i++) {
            Cycle.Step step = cycle.steps().get(i);
            String arrow = i == 0 ? "┌> " : i == cycle.steps().size() - 1 ? "└─ " : "│  ";
            lines.add("  " + arrow + step.client().title() + " holds " + step.holds() + " and has waited "
                    + Ages.of(step.waited()) + " for " + step.waitsFor());
        }
        return lines;
    }
}
