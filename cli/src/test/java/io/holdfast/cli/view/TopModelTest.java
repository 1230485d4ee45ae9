package io.holdfast.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.ClientCard;
import io.holdfast.cli.screen.Key;
import io.holdfast.cli.screen.Width;
import io.holdfast.console.Cycle;
import io.holdfast.console.Holder;
import io.holdfast.console.LockPicture;
import io.holdfast.console.LockRow;
import io.holdfast.console.PermitsInUse;
import io.holdfast.console.ReadWriteInUse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The keys of {@code top}, and the frames that they lead to. */
class TopModelTest {

    private static final ClientCard CARD = new ClientCard(
            "hf-1",
            "billing",
            "pod-7",
            4711,
            "1.0",
            Duration.ZERO,
            List.of(),
            3,
            List.of(),
            0,
            List.of(),
            List.of(),
            List.of());

    private final TopModel top = new TopModel("redis://h:6379/0", "");

    TopModelTest() {
        top.show(picture(row("a", 1, 30), row("b", 9, 10), row("order:1", 0, 20)));
    }

    @Test
    void theLongestWaitIsFirstAndChosen() {
        assertThat(frame().get(0)).isEqualTo("holdfast top  redis://h:6379/0");
        assertThat(frame().get(1)).isEqualTo("1 client, 3 locks held, 2 waiters, 3.0 locks/s");
        assertThat(names()).containsExactly("> b", "  a", "  order:1");
    }

    @Test
    void theChosenLockStaysChosenWhateverTheOrderIs() {
        press('j');
        assertThat(names()).containsExactly("  b", "> a", "  order:1");
        press('s');
        assertThat(names()).containsExactly("> a", "  order:1", "  b");
        press('s');
        press('s');
        assertThat(names()).containsExactly("> a", "  b", "  order:1");
        assertThat(frame().get(2)).startsWith("[s]ort: name ");
        press('k');
        press('k');
        assertThat(names().get(0)).isEqualTo("> a");
    }

    @Test
    void theFilterTakesTextUntilEnter() {
        press('/');
        "orq".chars().forEach(c -> press((char) c));
        press(Key.Kind.BACKSPACE);
        press('d');
        assertThat(frame().get(2)).contains("[/]filter: ord_");
        press(Key.Kind.ENTER);
        assertThat(names()).containsExactly("> order:1");
        press('/');
        press(Key.Kind.ESCAPE);
        assertThat(names()).hasSize(3);
        press('/');
        "?".chars().forEach(c -> press((char) c));
        assertThat(names()).containsExactly("> b", "  a");
    }

    @Test
    void enterOpensALockAndEscapeGoesBack() {
        press(Key.Kind.DOWN);
        press(Key.Kind.ENTER);
        assertThat(frame())
                .contains("name     a", "held by  billing@pod-7 (pid 4711), for 30s")
                .contains("To break it: holdfast release --yes --holder hf-1:1 a");
        press(Key.Kind.ESCAPE);
        assertThat(names()).hasSize(3);
    }

    @Test
    void qAndTheEndOfTheTerminalLeave() {
        assertThat(top.press(Key.of('x'))).isTrue();
        assertThat(top.press(Key.of('q'))).isFalse();
        assertThat(top.press(Key.of(Key.Kind.END))).isFalse();
        press('/');
        assertThat(top.press(Key.of('q'))).isTrue();
    }

    @Test
    void aStoreThatIsAwayLeavesTheLastPicture() {
        top.fail("redis://h:6379/0 did not answer\u001b[2J");
        assertThat(frame().get(1)).isEqualTo("NO ANSWER: redis://h:6379/0 did not answer\\u001b[2J");
        assertThat(names()).hasSize(3);
        top.show(picture(row("a", 1, 30)));
        assertThat(frame().get(1)).startsWith("1 client");
    }

    /** Nine cycles are more lines than most terminals have. */
    @Test
    void cyclesLeaveTheTableItsPlace() {
        List<Cycle> nine = IntStream.range(0, 9)
                .mapToObj(i -> new Cycle(
                        List.of(step("x" + i, "y" + i), step("y" + i, "x" + i), step("z" + i, "y" + i)), true))
                .toList();
        top.show(picture(nine, row("a", 1, 30), row("b", 9, 10), row("order:1", 0, 20)));
        assertThat(top.frame(80, 24, false)).hasSize(8).element(1).asString().endsWith(", 9 deadlocks");
        assertThat(names()).containsExactly("> b", "  a", "  order:1");

        press('c');
        List<String> shown = top.frame(80, 24, false);
        assertThat(shown)
                .hasSize(24)
                .allSatisfy(line -> assertThat(Width.of(line)).isLessThanOrEqualTo(80));
        assertThat(shown.get(4)).isEqualTo("1 of 9");
        assertThat(String.join("\n", shown)).contains("holds x0 and", "(pid 4711)");
        press('j');
        press(Key.Kind.PAGE_DOWN);
        press('k');
        assertThat(top.frame(80, 24, false).get(4)).isEqualTo("8 of 9");
        press(Key.Kind.ESCAPE);
        assertThat(names()).hasSize(3);
        assertThat(top.wholeFrame())
                .filteredOn(line -> line.startsWith("CYCLE"))
                .hasSize(9);
    }

    private static Cycle.Step step(String holds, String waits) {
        return new Cycle.Step(CARD, holds, "hf-1:1", waits, Duration.ofSeconds(9), Duration.ofSeconds(8));
    }

    @Test
    void framesFitEveryTerminal() {
        top.show(picture(IntStream.range(0, 200)
                .mapToObj(i -> row("a-name-that-is-rather-long-" + i, i, 5))
                .toArray(LockRow[]::new)));
        for (int keys = 0; keys < 30; keys++) {
            press(keys % 2 == 0 ? Key.Kind.DOWN : Key.Kind.PAGE_DOWN);
            if (keys == 20) {
                press(Key.Kind.ENTER);
            }
            for (int width : new int[] {10, 40, 80, 200}) {
                for (int height : new int[] {1, 3, 5, 24, 300}) {
                    List<String> frame = top.frame(width, height, false);
                    assertThat(frame).hasSizeLessThanOrEqualTo(height);
                    assertThat(frame)
                            .allSatisfy(line -> assertThat(Width.of(line)).isLessThanOrEqualTo(width));
                    if (height == 24 && keys < 20) {
                        assertThat(frame)
                                .filteredOn(line -> line.startsWith("> "))
                                .hasSize(1);
                    }
                }
            }
        }
    }

    @Test
    void anEmptyStore() {
        TopModel empty = new TopModel("memory", "");
        assertThat(empty.frame(80, 24, false)).contains("looking…");
        empty.show(picture());
        empty.press(Key.of(Key.Kind.ENTER));
        empty.press(Key.of(Key.Kind.DOWN));
        assertThat(empty.frame(80, 24, true)).isNotEmpty();
    }

    @Test
    void permitsAndReadWriteLocksAreCountedBesideLocks() {
        LockRow permits = new LockRow(
                "permits:export",
                Optional.empty(),
                Optional.of(new PermitsInUse(
                        4, List.of(5), List.of(new PermitsInUse.Holder(CARD, 2, 4, Duration.ofSeconds(1))))),
                Optional.empty(),
                Set.of(),
                0,
                Duration.ZERO,
                List.of(),
                0,
                0);
        LockRow readWrite = new LockRow(
                "read-write:catalog",
                Optional.empty(),
                Optional.empty(),
                Optional.of(new ReadWriteInUse(
                        List.of(new ReadWriteInUse.Holder(CARD, ReadWriteInUse.Mode.READ, 1, Duration.ofSeconds(1))))),
                Set.of(),
                0,
                Duration.ZERO,
                List.of(),
                0,
                0);
        top.show(picture(row("a", 0, 1), permits, readWrite));
        assertThat(frame().get(1)).startsWith("1 client, 3 locks, 4 permits, 1 read or write lock held, 0 waiters");
        press('s');
        press('s');
        press('s');
        press('j');
        press(Key.Kind.ENTER);
        assertThat(frame()).contains("  The ids are shown by: holdfast inspect permits:export");
    }

    private void press(char character) {
        assertThat(top.press(Key.of(character))).isTrue();
    }

    private void press(Key.Kind kind) {
        assertThat(top.press(Key.of(kind))).isTrue();
    }

    private List<String> frame() {
        return top.frame(100, 24, false);
    }

    /** The rows of the table, up to the first gap. */
    private List<String> names() {
        return frame().stream()
                .skip(5)
                .map(line -> line.replaceFirst("(?s)^(.{2}\\S+).*", "$1"))
                .toList();
    }

    private static LockPicture picture(LockRow... rows) {
        return picture(List.of(), rows);
    }

    private static LockPicture picture(List<Cycle> cycles, LockRow... rows) {
        return new LockPicture(
                List.of(rows).stream().sorted(LockRow.BY_URGENCY).toList(),
                List.of(CARD),
                cycles,
                List.of(),
                List.of(),
                Duration.ofSeconds(5),
                0);
    }

    private static LockRow row(String name, int waitedSeconds, int heldSeconds) {
        Holder holder = new Holder(
                "hf-1:1",
                CARD.title(),
                Optional.of(CARD),
                OptionalLong.of(1),
                Optional.of(Duration.ofSeconds(heldSeconds)),
                Optional.empty(),
                true,
                Optional.empty(),
                Optional.empty());
        return new LockRow(
                name,
                Optional.of(holder),
                Optional.empty(),
                Optional.empty(),
                Set.of(),
                waitedSeconds == 0 ? 0 : 1,
                Duration.ofSeconds(waitedSeconds),
                List.of(),
                1,
                0);
    }
}
