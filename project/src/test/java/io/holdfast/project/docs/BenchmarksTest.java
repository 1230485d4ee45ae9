package io.holdfast.project.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The figures of README and of the page of benchmarks are those of the tables that they link to. */
class BenchmarksTest {

    private static final Path PAGE = Path.of("docs/benchmarks.md");
    private static final Path TABLES = Path.of("docs/benchmarks-tables.md");
    private static final Path ZOOKEEPER = Path.of("docs/benchmarks-zookeeper.md");
    private static final Pattern README_LINK = Pattern.compile("\\(docs/benchmarks-tables\\.md#([^)]+)\\)");
    private static final Pattern LINK = Pattern.compile("\\(benchmarks-tables\\.md#(\\S+)\\)");
    private static final Pattern FIGURE = Pattern.compile("\\d[\\d,]*(?:\\.\\d+)?");

    @Test
    void figuresAreThoseOfTheTables() {
        List<String> rows = Pages.text(PAGE)
                .lines()
                .filter(line -> LINK.matcher(line).find() && line.startsWith("| "))
                .toList();
        assertThat(rows).hasSize(10);
        List<String> unknown = new ArrayList<>();
        int checked = 0;
        for (String row : rows) {
            String anchor =
                    LINK.matcher(row).results().findFirst().orElseThrow().group(1);
            List<String> figures = figures(section(anchor));
            String[] cells = row.split("\\|");
            for (String cell : Arrays.asList(cells).subList(2, cells.length - 1)) {
                for (String figure : figures(cell)) {
                    checked++;
                    if (!figures.contains(figure)) {
                        unknown.add(figure + " is not in " + anchor);
                    }
                }
            }
        }
        assertThat(unknown).isEmpty();
        assertThat(checked).isGreaterThan(50);
    }

    /** A row that begins with "…" goes on with the table of the row above. Curator's cell is the last. */
    @Test
    void figuresOfReadmeAreThoseOfTheTables() {
        String section = "";
        List<String> unknown = new ArrayList<>();
        int checked = 0;
        for (String row : Pages.text(Path.of("README.md")).lines().toList()) {
            Matcher link = README_LINK.matcher(row);
            if (link.find()) {
                section = section(link.group(1));
            } else if (!row.startsWith("| … ")) {
                continue;
            }
            String[] cells = row.replaceAll("\\]\\([^)]*\\)", "").split("\\|", -1); // the last one is empty
            for (int cell = 2; cell < cells.length; cell++) {
                boolean curator = cell == cells.length - 2;
                List<String> known = figures(curator ? Pages.text(ZOOKEEPER) : section);
                for (String figure : figures(cells[cell])) {
                    checked++;
                    if (!known.contains(figure)) {
                        unknown.add(figure + " of " + row);
                    }
                }
            }
        }
        assertThat(unknown).isEmpty();
        assertThat(checked).isGreaterThan(35);
    }

    /** Returns the text under the heading with this anchor. */
    private static String section(String anchor) {
        return Arrays.stream(Pages.text(TABLES).split("(?m)^##+ "))
                .filter(section ->
                        Pages.anchor(section.lines().findFirst().orElse("")).equals(anchor))
                .findFirst()
                .orElseThrow(() -> new AssertionError(TABLES + " has no heading #" + anchor));
    }

    private static List<String> figures(String text) {
        return FIGURE.matcher(text).results().map(figure -> figure.group()).toList();
    }
}
