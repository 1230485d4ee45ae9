package io.holdfast.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A page of Markdown about the results of a run. */
final class Page {

    /** A table: its case, its title, the meaning of a size, and the figures with their headings. */
    record Table(String caseId, String title, String size, Map<String, String> columns) {}

    private final Results results;
    private final StringBuilder text = new StringBuilder();

    Page(Results results) {
        this.results = results;
    }

    void line(String line) {
        text.append(line).append('\n');
    }

    String text() {
        return text.toString();
    }

    void goals(List<GoalLines.Line> goals) {
        line("## Which goals were reached?\n");
        line("| | goal | reached | met |\n|---|---|---|---|");
        for (GoalLines.Line goal : goals) {
            line("| " + goal.question() + " | " + goal.goal() + " | " + goal.reached() + " | " + goal.met() + " |");
        }
        line("");
    }

    /** Adds a table, if its case was measured. */
    void table(Table table) {
        List<String> peers = results.peers(table.caseId());
        if (peers.isEmpty()) {
            return;
        }
        line("## " + table.title() + "\n");
        line("| " + table.size() + " | peer | "
                + String.join(" | ", table.columns().values()) + " |");
        line("|---".repeat(table.columns().size() + 2) + "|");
        for (int size : results.sizes(table.caseId())) {
            for (String peer : peers) {
                row(table, size, peer);
            }
        }
        line("");
    }

    private void row(Table table, int size, String peer) {
        List<String> cells = new ArrayList<>();
        boolean measured = false;
        for (String figure : table.columns().keySet()) {
            List<Double> values = results.values(table.caseId(), size, peer, figure);
            measured |= !values.isEmpty();
            cells.add(Numbers.cell(values));
        }
        if (measured) {
            line("| " + size + " | " + peer + " | " + String.join(" | ", cells) + " |");
        }
    }

    void notes() {
        line("## Notes of this run\n");
        line("- Overlaps found: " + results.violations() + ".");
        results.notes().forEach(note -> line("- " + note));
    }

    static Map<String, String> columns(String... figuresAndHeadings) {
        Map<String, String> columns = new LinkedHashMap<>();
        for (int i = 0; i < figuresAndHeadings.length; i += 2) {
            columns.put(figuresAndHeadings[i], figuresAndHeadings[i + 1]);
        }
        return columns;
    }
}
