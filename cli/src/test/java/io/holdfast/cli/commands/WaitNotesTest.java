package io.holdfast.cli.commands;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.cli.console.Io;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class WaitNotesTest {

    private static final Duration SOON = Duration.ofMillis(10);

    private final StringWriter err = new StringWriter();
    private final Io io = new Io(new PrintWriter(new StringWriter()), new PrintWriter(err, true));

    @Test
    void saysAtGrowingIntervalsWhoHoldsTheLock() {
        try (WaitNotes notes =
                new WaitNotes(io, "nightly", () -> "held by billing", SOON, () -> Duration.ofMillis(100))) {
            notes.start();
            Awaitility.await().until(() -> lines().size() >= 3);
        }
        assertThat(lines())
                .startsWith(
                        "holdfast: nightly: has waited 100ms, held by billing",
                        "holdfast: nightly: has waited 200ms, held by billing",
                        "holdfast: nightly: has waited 400ms, held by billing");
    }

    @Test
    void saysNothingAfterTheWait() throws InterruptedException {
        WaitNotes notes = new WaitNotes(io, "short", () -> "held by billing", SOON, () -> Duration.ofSeconds(60));
        notes.start();
        notes.close();
        Thread.sleep(50);
        assertThat(lines()).isEmpty();
    }

    private List<String> lines() {
        return err.toString().lines().toList();
    }
}
