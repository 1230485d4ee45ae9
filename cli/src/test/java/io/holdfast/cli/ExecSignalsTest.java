package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.holdfast.Lease;
import io.holdfast.cli.process.Kill;
import io.holdfast.cli.process.ProcessTree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Signals that {@code exec} gets while it waits and while its command runs. */
@EnabledOnOs(OS.LINUX) // numbers of signals
class ExecSignalsTest extends WithRedis {

    /** ABRT, USR1, USR2, ALRM, STKFLT, XCPU, XFSZ, VTALRM, PROF, IO, PWR. */
    private static final List<Integer> RARE_SIGNALS = List.of(6, 10, 12, 14, 16, 24, 25, 26, 27, 29, 30);

    /**
     * Reads a line, and goes on to do so after a trapped signal, which ends "read" as the end of the input does: without
     * a bound, a shell that is left behind would ask for ever.
     */
    private static final String READ_A_LINE =
            "tries=0; until read -r line; do [ $((tries += 1)) -lt 100 ] || exit 9; done; ";

    @Test
    void passesTermOnAndExitsAsTheCommandDoes() throws Exception {
        try (CliProcess exec = exec("term", "trap 'echo got it; exit 3' TERM; echo running; sleep 60")) {
            exec.awaitOut("running");
            signal("TERM", exec);
            assertThat(exec.exitCode()).isEqualTo(3);
            assertThat(exec.out()).isEqualTo("running\ngot it\n");
        }
        assertReleased("term");
    }

    @Test
    @Tag("deep")
    void passesIntOn() throws Exception {
        assumeThat(ignoresInt()).as("this build was started to ignore SIGINT").isFalse();
        try (CliProcess exec = exec("int", "trap 'echo got it; exit 4' INT; echo running; sleep 60")) {
            exec.awaitOut("running");
            signal("INT", exec);
            assertThat(exec.exitCode()).isEqualTo(4);
            assertThat(exec.out()).isEqualTo("running\ngot it\n");
        }
        assertReleased("int");
    }

    @Test
    @Tag("deep")
    void passesHupOnToTheCommandAlone() throws Exception {
        assumeThat(ignores(1)).as("this build was started by nohup").isFalse();
        try (CliProcess exec = exec("hup", "trap 'echo reread' HUP; echo running; " + READ_A_LINE + "echo $line")) {
            exec.awaitOut("running");
            signal("HUP", exec);
            exec.awaitOut("reread");
            assertThat(exec.isAlive()).isTrue();
            exec.type("end\n");
            assertThat(exec.exitCode()).isZero();
        }
    }

    /** All signals of Linux that would end Java, but those that Java cannot receive. */
    @Test
    @Tag("deep") // quick: passesTermOnAndExitsAsTheCommandDoes
    void passesRareSignalsOnToTheCommandAlone() throws Exception {
        List<String> numbers = RARE_SIGNALS.stream()
                .filter(number -> !ignores(number))
                .map(String::valueOf)
                .toList();
        String traps = numbers.stream()
                .map(number -> "trap 'echo got " + number + "' " + number + "; ")
                .collect(Collectors.joining());
        try (CliProcess exec = exec("rare", traps + "echo running; " + READ_A_LINE + "echo $line; exit 5")) {
            exec.awaitOut("running");
            for (String number : numbers) {
                signal(number, exec);
                exec.awaitOut("got " + number + "\n");
                assertThat(exec.isAlive()).isTrue();
            }
            assertThat(locks.tryAcquire("rare")).isEmpty();
            exec.type("end\n");
            assertThat(exec.exitCode()).isEqualTo(5);
            assertThat(exec.err()).isEmpty();
        }
        assertReleased("rare");
    }

    @Test
    @Tag("deep") // quick: ExecTest.tellsWhichSignalEndedTheCommand
    void endsWithACommandThatDiesOfARareSignal() throws Exception {
        for (int number : List.of(10, 24)) {
            try (CliProcess exec = exec("rarely", "echo running; exec sleep 60")) {
                exec.awaitOut("running");
                signal(Integer.toString(number), exec);
                assertThat(exec.exitCode()).isEqualTo(128 + number);
            }
            assertReleased("rarely");
        }
    }

    @Test
    @Tag("deep")
    void tellsTheSignalOfACommandThatDiesOfIt() throws Exception {
        try (CliProcess exec = exec("dies", "echo running; sleep 60; echo not reached")) {
            exec.awaitOut("running");
            signal("TERM", exec);
            assertThat(exec.exitCode()).isEqualTo(143);
            assertThat(exec.out()).isEqualTo("running\n");
        }
        assertReleased("dies");
    }

    @Test
    @Tag("deep") // quick: passesTermOnAndExitsAsTheCommandDoes
    void killsACommandThatDoesNotStopInTime() throws Exception {
        try (CliProcess exec = CliProcess.start(
                "exec",
                "--store",
                redis.uri(),
                "--kill-after",
                "2s",
                "slow",
                "--",
                "sh",
                "-c",
                "trap 'echo no' TERM; echo running; while :; do sleep 0.1; done")) {
            exec.awaitOut("running");
            signal("TERM", exec);
            assertThat(exec.exitCode()).isEqualTo(137);
            assertThat(exec.out()).startsWith("running\nno\n");
        }
        assertReleased("slow");
    }

    @Test
    void leavesNothingOfAStoppedCommandRunning() throws Exception {
        try (CliProcess exec = exec("family", "sh -c 'echo $$; exec sleep 60' & echo running; wait")) {
            exec.awaitOut("running");
            Awaitility.await().until(() -> exec.out().lines().count() == 2);
            long pid = exec.out()
                    .lines()
                    .filter(line -> line.matches("\\d+"))
                    .mapToLong(Long::parseLong)
                    .findFirst()
                    .orElseThrow();
            ProcessTree grandchild = new ProcessTree(ProcessHandle.of(pid).orElseThrow());
            signal("TERM", exec);
            assertThat(exec.exitCode()).isEqualTo(143);
            assertThat(grandchild.awaitEnd(Duration.ZERO)).isTrue();
        }
        assertReleased("family");
    }

    @Test
    @Tag("deep") // quick: passesTermOnAndExitsAsTheCommandDoes
    void stopsWaitingAndLeavesNothing() throws Exception {
        try (Lease held = locks.tryAcquire("waiting").orElseThrow()) {
            for (String signal : ignoresInt() ? List.of("TERM", "USR1") : List.of("TERM", "USR1", "INT")) {
                try (CliProcess exec = exec("waiting", "echo ran")) {
                    awaitWaiters("waiting", 1);
                    signal(signal, exec);
                    assertThat(exec.exitCode())
                            .isEqualTo(
                                    switch (signal) {
                                        case "TERM" -> 143;
                                        case "USR1" -> 138;
                                        default -> 130;
                                    });
                    assertThat(exec.out()).isEmpty();
                    awaitWaiters("waiting", 0);
                }
            }
            assertThat(held.isValid()).isTrue();
        }
    }

    private CliProcess exec(String name, String script) {
        return CliProcess.start("exec", "--store", redis.uri(), name, "--", "sh", "-c", script);
    }

    private static void signal(String name, CliProcess exec) throws IOException, InterruptedException {
        Kill.send(name, List.of(exec.pid()));
    }

    private void awaitWaiters(String name, int number) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> locks.inspect(name).waitingClients() == number);
    }

    private void assertReleased(String name) {
        locks.tryAcquire(name).orElseThrow().release();
    }

    /** A plain shell starts its background jobs like that, and children inherit it. */
    private static boolean ignoresInt() {
        return ignores(2);
    }

    private static boolean ignores(int signal) {
        List<String> lines;
        try {
            lines = Files.readAllLines(Path.of("/proc/self/status"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return lines.stream()
                .filter(line -> line.startsWith("SigIgn:"))
                .mapToLong(line -> Long.parseUnsignedLong(line.substring(7).strip(), 16))
                .anyMatch(mask -> (mask & (1L << (signal - 1))) != 0);
    }
}
