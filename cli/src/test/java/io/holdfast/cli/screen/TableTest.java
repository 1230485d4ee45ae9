package io.holdfast.cli.screen;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.cli.screen.Table.Cell;
import io.holdfast.cli.screen.Table.Kind;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TableTest {

    private static Table table() {
        Table table = new Table()
                .column("NAME", Kind.TEXT)
                .column("N", Kind.NUMBER)
                .column("EXTRA", Kind.EXTRA)
                .column("FLAGS", Kind.WHOLE);
        table.add(Cell.of("a-name-of-twenty-six-chars"), Cell.of(7), Cell.of(1), new Cell("BAD", Tone.BAD));
        table.add(Cell.of("b"), Cell.of(123), Cell.of(2), Cell.of(""));
        return table;
    }

    @Test
    void withoutATerminalNothingIsCut() {
        assertThat(table().lines(0, false))
                .containsExactly(
                        "NAME                           N   EXTRA   FLAGS",
                        "a-name-of-twenty-six-chars     7       1   BAD",
                        "b                            123       2");
    }

    @Test
    void whatMayBeCutIsCutFirst() {
        assertThat(table().lines(40, false))
                .containsExactly(
                        "NAME                   N   EXTRA   FLAGS",
                        "a-name-of-twenty-…     7       1   BAD",
                        "b                    123       2");
    }

    @Test
    void thenExtraColumnsAreLeftOut() {
        assertThat(table().lines(28, false))
                .containsExactly("NAME               N   FLAGS", "a-name-of-twe…     7   BAD", "b                123");
    }

    @Test
    void noLineIsWiderThanTheTerminal() {
        for (int width = 1; width < 60; width++) {
            int most = width;
            assertThat(table().lines(width, false))
                    .allSatisfy(line -> assertThat(Width.of(line)).isLessThanOrEqualTo(most));
        }
    }

    /** 905 characters are a valid lock name. */
    @Test
    void oneLongNameDoesNotPadTheOtherLines() {
        String longName = "x".repeat(905);
        Table table = new Table().column("NAME", Kind.TEXT).column("HOLDER", Kind.TITLE);
        table.add(Cell.of(longName), Cell.of("billing"));
        table.add(Cell.of("b"), Cell.of("orders"));
        assertThat(table.lines(0, false))
                .containsExactly(
                        "NAME" + " ".repeat(79) + "HOLDER", longName + "   billing", "b" + " ".repeat(82) + "orders");
        assertThat(table.lines(60, false).get(1)).isEqualTo("x".repeat(49) + "…   billing");
    }

    /** It is what a person needs for kill and jstack. */
    @Test
    void theProcessIdIsNotCut() {
        Table table = new Table()
                .column("NAME", Kind.TEXT)
                .column("HOLDER", Kind.TITLE)
                .column("ENDS", Kind.WHOLE);
        String name = "invoice:2026-11:a-rather-long-name";
        table.add(Cell.of(name), Cell.of("billing-service@billing-7f9c6d8b5-x2x7k (pid 1789)"), Cell.of("renewed"));
        table.add(Cell.of(name), Cell.of("账单账单账单账单账单账单账单@pod (pid 4194304)"), Cell.of("renewed"));
        for (int width = 50; width < 110; width++) {
            int most = width;
            assertThat(table.lines(width, false).subList(1, 3))
                    .allSatisfy(line -> assertThat(Width.of(line)).isLessThanOrEqualTo(most))
                    .satisfiesExactly(
                            line -> assertThat(line).contains("(pid 1789)").contains("   billing"),
                            line -> assertThat(line).contains("(pid 4194304)"));
        }
    }

    @Test
    void wideCharactersTakeTwoColumns() {
        Table table = new Table().column("NAME", Kind.TEXT).column("N", Kind.NUMBER);
        table.add(Cell.of("库存锁"), Cell.of(1));
        table.add(Cell.of("abcdef"), Cell.of(2));
        assertThat(table.lines(0, false)).containsExactly("NAME     N", "库存锁   1", "abcdef   2");
        assertThat(Width.cut("库存锁", 5)).isEqualTo("库存…");
        assertThat(Width.cut("库存锁", 4)).isEqualTo("库…");
    }

    /** A name could otherwise move the cursor, or show another name. */
    @Test
    void controlCharactersOfOthersAreEscaped() {
        Table table = new Table().column("NAME", Kind.TEXT);
        table.add(Cell.of("a\u001b[2Jb\nc\u202ed"));
        assertThat(table.lines(0, true).get(1)).isEqualTo("a\\u001b[2Jb\\u000ac\\u202ed");
    }

    @Test
    void coloursOnlyWhereTheyAreWanted() {
        assertThat(table().lines(0, true).get(1)).endsWith("\u001b[1;31mBAD\u001b[0m");
        assertThat(Output.mayColour(Map.of("TERM", "xterm"))).isTrue();
        assertThat(Output.mayColour(Map.of("TERM", "xterm", "NO_COLOR", ""))).isTrue();
        assertThat(Output.mayColour(Map.of("TERM", "xterm", "NO_COLOR", "1"))).isFalse();
        assertThat(Output.mayColour(Map.of("TERM", "dumb"))).isFalse();
        assertThat(Output.mayColour(Map.of())).isFalse();
    }
}
