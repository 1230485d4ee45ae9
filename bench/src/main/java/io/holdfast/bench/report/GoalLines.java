package io.holdfast.bench.report;

import java.util.ArrayList;
import java.util.List;

/** Makes the lines of a table that compares figures with goals. */
abstract class GoalLines {

    /**
     * A line of the table.
     *
     * @param met yes, no, or not measured
     */
    record Line(String question, String goal, String reached, String met) {}

    private final List<Line> lines = new ArrayList<>();

    final List<Line> made() {
        return List.copyOf(lines);
    }

    final void atLeast(String question, double goal, double reached) {
        add(question, "≥ " + Numbers.text(goal), Numbers.text(reached), known(reached), reached >= goal);
    }

    final void atMost(String question, double goal, double reached) {
        add(question, "≤ " + Numbers.text(goal), Numbers.text(reached), known(reached), reached <= goal);
    }

    final void inform(String question, double reached) {
        lines.add(new Line(question, "", Numbers.text(reached), ""));
    }

    final void add(String question, String goal, String reached, boolean known, boolean met) {
        lines.add(new Line(question, goal, known ? reached : "–", known ? met ? "yes" : "**no**" : "not measured"));
    }

    static boolean known(double... values) {
        for (double value : values) {
            if (Double.isNaN(value)) {
                return false;
            }
        }
        return true;
    }
}
