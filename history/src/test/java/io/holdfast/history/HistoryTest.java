package io.holdfast.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HistoryTest {

    @TempDir
    private Path folder;

    @Test
    void files_of_several_processes_are_one_history() throws IOException {
        Event ask = Event.of(10, Event.Kind.ASK, "p/1", "lock", "a name=with every%thing", "wait", 5);
        Event refused = Event.of(30, Event.Kind.REFUSED, "p/1", "why", "timeout");
        Event other = Event.of(20, Event.Kind.ASK, "q/1", "lock", "b");
        new History(List.of(ask, refused)).write(folder.resolve("p"));
        new History(List.of(other)).write(folder.resolve("q"));
        assertThat(History.read(List.of(folder.resolve("p"), folder.resolve("q")))
                        .events())
                .containsExactly(ask, other, refused);
    }

    @Test
    void a_line_that_is_no_event_is_shown() throws IOException {
        Path file = folder.resolve("bad");
        for (String line : List.of("nonsense", "1 ask", "x ask p/1 lock=a", "1 asked p/1 lock=a", "1 ask p/1 lock")) {
            Files.writeString(file, "# a comment\n" + line + "\n");
            assertThatThrownBy(() -> History.read(List.of(file)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("line 2")
                    .hasMessageContaining("\"" + line + "\"");
        }
    }

    @Test
    void a_missing_detail_is_named() {
        assertThatThrownBy(() -> Event.parse("1 ask p/1").text("lock")).hasMessageContaining("has no lock");
    }
}
