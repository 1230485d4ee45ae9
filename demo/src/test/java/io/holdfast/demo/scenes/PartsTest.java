package io.holdfast.demo.scenes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class PartsTest {

    @Test
    void aMessageSurvivesItsLine() {
        Message message = Message.of("ask", "text", "a b=c\n%\u00fc", "empty", "", "number", 7L);
        assertThat(message.line()).doesNotContain("\n");
        assertThat(Message.parse(message.line())).isEqualTo(message);
    }

    @Test
    void theSectionSeesAnOverlapAndAStaleToken() {
        Section section = new Section();
        section.enter(5);
        section.leave();
        section.enter(7);
        assertThat(section.mostInside()).isEqualTo(1);
        assertThat(section.tokensOutOfOrder()).isZero();
        section.enter(6);
        assertThat(section.mostInside()).isEqualTo(2);
        assertThat(section.tokensOutOfOrder()).isEqualTo(1);
        assertThat(section.entries()).isEqualTo(3);
    }

    @Test
    void theLedgerRefusesAnOlderToken() {
        Ledger ledger = new Ledger();
        assertThat(ledger.write(5, "first")).isTrue();
        assertThat(ledger.write(5, "again")).isTrue();
        assertThat(ledger.write(6, "second")).isTrue();
        assertThat(ledger.write(5, "late")).isFalse();
        assertThat(ledger.lines()).containsExactly("first", "again", "second");
    }

    @Test
    void whoLeavesTheShopLeavesItsSections() throws IOException {
        try (Shop shop = Shop.open()) {
            Shop.Visit visit = new Shop.Visit(shop.port());
            visit.ask("enter", "section", "s", "token", 1);
            assertThat(shop.books().section("s").inside()).isEqualTo(1);
            visit.close();
            Awaitility.await().until(() -> shop.books().section("s").inside() == 0);
        }
    }

    @Test
    void progressIsPlainLinesWithoutATerminal() {
        StringWriter text = new StringWriter();
        Progress.Line line = new Progress(new PrintWriter(text), false).line("refund");
        line.step("begins");
        line.show("1 of 2");
        line.end(true);
        assertThat(text.toString().lines()).containsExactly("refund        begins", "refund        ok");
    }

    @Test
    void progressRewritesItsLineOnATerminal() {
        StringWriter text = new StringWriter();
        Progress.Line line = new Progress(new PrintWriter(text), true).line("refund");
        line.step("begins");
        line.show("x".repeat(200));
        line.end(false);
        assertThat(text.toString()).contains("\r").endsWith("refund        FAILED" + System.lineSeparator());
        assertThat(text.toString().split("\r", -1)).allMatch(part -> part.length() <= 80);
    }

    @Test
    void theSummaryNamesWhatDidNotHold() {
        Result bad = new Result(
                "crash",
                "title",
                "happened",
                List.of(
                        new Result.Invariant("one", true, "1"),
                        new Result.Invariant("two \"quoted\"", false, "\u00fc")),
                new LinkedHashMap<>(Map.of("number", 5L)),
                1_500);
        Summary summary = new Summary("redis://h", List.of(bad), 2_000);
        assertThat(summary.held()).isFalse();

        StringWriter text = new StringWriter();
        summary.print(new PrintWriter(text));
        assertThat(text.toString())
                .contains("crash", "FAILED", "NOT HELD: two", "1 of 2 invariants did NOT hold on redis://h, in 2.0 s.");

        StringWriter json = new StringWriter();
        summary.printJson(new PrintWriter(json));
        assertThat(json.toString().strip())
                .isEqualTo("{\"held\":false,\"broken\":1,\"store\":\"redis://h\",\"millis\":2000,\"scenes\":["
                        + "{\"name\":\"crash\",\"title\":\"title\",\"held\":false,\"millis\":1500,\"happened\":\"happened\","
                        + "\"numbers\":{\"number\":5},\"invariants\":[{\"text\":\"one\",\"held\":true,\"seen\":\"1\"},"
                        + "{\"text\":\"two \\\"quoted\\\"\",\"held\":false,\"seen\":\"\\u00fc\"}]}]}");
    }
}
