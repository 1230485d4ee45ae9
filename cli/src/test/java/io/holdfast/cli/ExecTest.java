package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.atIndex;

import io.holdfast.Lease;
import io.holdfast.cli.console.Shell;
import io.holdfast.testkit.faults.FaultProxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What {@code exec} does around the command: streams, environment, exit codes, and the lock itself. */
class ExecTest extends WithRedis {

    @Test
    void passesStreamsAndExitCode() {
        try (CliProcess exec = exec("streams", "sh", "-c", "cat; echo oops >&2; exit 7")) {
            exec.type("one\ntwo\n");
            assertThat(exec.exitCode()).isEqualTo(7);
            assertThat(exec.out()).isEqualTo("one\ntwo\n");
            assertThat(exec.err()).isEqualTo("oops\n");
        }
    }

    @Test
    void isKnownAtTheServerByItsCommand() {
        try (CliProcess exec = exec("named", "/bin/sh", "-c", "echo running; read line")) {
            exec.awaitOut("running");
            assertThat(String.valueOf(redis.command("CLIENT", "LIST"))).contains("exec_sh@");
            exec.type("go on\n");
            assertThat(exec.exitCode()).isZero();
        }
    }

    @Test
    void tellsTheCommandItsLock() {
        try (CliProcess exec = exec("environment", "sh", "-c", "echo $HOLDFAST_LOCK $HOLDFAST_TOKEN")) {
            assertThat(exec.exitCode()).isZero();
            String[] words = exec.out().strip().split(" ", -1);
            assertThat(words[0]).isEqualTo("environment");
            long token = Long.parseLong(words[1]);
            try (Lease next = locks.tryAcquire("environment").orElseThrow()) {
                assertThat(next.fencingToken()).isGreaterThan(token);
            }
        }
    }

    @Test
    void holdsTheLockWhileTheCommandRunsAndReleasesItAtOnce() {
        try (CliProcess exec = exec("held", "sh", "-c", "echo running; read line")) {
            exec.awaitOut("running");
            assertThat(locks.tryAcquire("held")).isEmpty();
            assertThat(locks.inspect("held").isLocked()).isTrue();
            exec.type("go on\n");
            assertThat(exec.exitCode()).isZero();
            locks.tryAcquire("held").orElseThrow().release();
        }
    }

    @Test
    @Tag("deep") // quick: LockClientTest.is_renewed_past_its_length of redis
    void renewsForAsLongAsTheCommandRuns() throws InterruptedException {
        try (CliProcess exec = CliProcess.start(
                "exec",
                "--store",
                redis.uri(),
                "--lease",
                "4s",
                "renewed",
                "--",
                "sh",
                "-c",
                "echo running; read line")) {
            exec.awaitOut("running");
            Thread.sleep(5_000);
            assertThat(locks.tryAcquire("renewed")).isEmpty();
            exec.type("go on\n");
            assertThat(exec.exitCode()).isZero();
            assertThat(exec.err()).isEmpty();
        }
    }

    @Test
    void tellsWhichSignalEndedTheCommand() {
        assertThat(CliProcess.run("exec", "--store", redis.uri(), "killed", "--", "sh", "-c", "kill -9 $$")
                        .exitCode())
                .isEqualTo(128 + 9);
    }

    @Test
    @Tag("deep") // quick: passesStreamsAndExitCode
    void passesArgumentsUnchanged() {
        try (CliProcess exec = exec("arguments", "printf", "%s\n", "@file", "a b", "", "--wait", "--", "${x}", "'q'")) {
            assertThat(exec.exitCode()).isZero();
            assertThat(exec.out()).isEqualTo("@file\na b\n\n--wait\n--\n${x}\n'q'\n");
        }
    }

    @Test
    @Tag("deep") // quick: triesOnceWithNAndWaitsSecondsWithW
    void exits75WithoutRunningWhenTheWaitIsOver(@TempDir Path dir) {
        Path mark = dir.resolve("ran");
        try (Lease held = locks.tryAcquire("busy").orElseThrow();
                CliProcess exec = CliProcess.start(
                        "exec", "--store", redis.uri(), "--wait", "2s", "busy", "--", "touch", mark.toString())) {
            assertThat(exec.exitCode()).isEqualTo(75);
            assertThat(exec.err())
                    .startsWith("holdfast: busy: not acquired within 2s, held by ")
                    .hasLineCount(1);
            assertThat(mark).doesNotExist();
            assertThat(held.isValid()).isTrue();
        }
        assertThat(locks.inspect("busy").waitingClients()).isZero();
    }

    /** The short options of flock(1). The holder has a name although its client has not told yet what it holds. */
    @Test
    void triesOnceWithNAndWaitsSecondsWithW() {
        try (Lease held = locks.tryAcquire("as flock").orElseThrow()) {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> locks.inspect("as flock").holderCard().isPresent());
            String holder = locks.inspect("as flock").holderCard().orElseThrow().title();
            for (String once : new String[] {"-n", "--nonblock", "-w0", "--wait=0"}) {
                InProcess result = InProcess.run("exec", "--store", redis.uri(), once, "as flock", "--", "false");
                assertThat(result.exitCode()).isEqualTo(75);
                assertThat(result.errLines())
                        .singleElement()
                        .asString()
                        .startsWith("holdfast: as flock: not acquired, held by " + holder);
            }
            InProcess result = InProcess.run("exec", "--store", redis.uri(), "-w", "1", "as flock", "--", "false");
            assertThat(result.exitCode()).isEqualTo(75);
            assertThat(result.errLines())
                    .singleElement()
                    .asString()
                    .startsWith("holdfast: as flock: not acquired within 1s, held by " + holder);
            assertThat(held.isValid()).isTrue();
        }
    }

    @Test
    void waitsAsLongAsNeededWithoutWait() throws InterruptedException {
        Lease held = locks.tryAcquire("patient").orElseThrow();
        try (CliProcess exec = exec("patient", "echo", "at last")) {
            awaitWaiter("patient");
            Thread.sleep(300);
            assertThat(exec.isAlive()).isTrue();
            held.release();
            assertThat(exec.exitCode()).isZero();
            assertThat(exec.out()).isEqualTo("at last\n");
        }
    }

    /** Standard error is a terminal: the program "script" gives one to what it starts. */
    @Test
    @Tag("deep") // quick: WaitNotesTest
    @EnabledOnOs(OS.LINUX) // the options of "script"
    void saysAtATerminalWhoHoldsTheLock() {
        List<String> exec = CliProcess.words("exec", "--store", redis.uri(), "--wait", "7s", "told", "--", "false");
        List<String> quiet = new ArrayList<>(exec);
        quiet.add(quiet.indexOf("told"), "-q");
        try (Lease held = locks.tryAcquire("told").orElseThrow()) {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> locks.inspect("told").holderCard().isPresent());
            String holder = locks.inspect("told").holderCard().orElseThrow().title();
            assertThat(atATerminal(exec))
                    .filteredOn(line -> line.startsWith("holdfast: "))
                    .hasSize(3)
                    .satisfies(
                            line -> assertThat(line).startsWith("holdfast: told: has waited 2s, held by " + holder),
                            atIndex(0))
                    .satisfies(
                            line -> assertThat(line).startsWith("holdfast: told: has waited 4s, held by " + holder),
                            atIndex(1))
                    .satisfies(
                            line -> assertThat(line).startsWith("holdfast: told: not acquired within 7s"), atIndex(2));
            assertThat(atATerminal(quiet))
                    .filteredOn(line -> line.startsWith("holdfast: "))
                    .singleElement()
                    .asString()
                    .startsWith("holdfast: told: not acquired within 7s");
            assertThat(held.isValid()).isTrue();
        }
    }

    private static List<String> atATerminal(List<String> command) {
        String line = command.stream().map(Shell::word).collect(Collectors.joining(" "));
        try (CliProcess script = CliProcess.of("script", "-qec", line, "/dev/null")) {
            script.type("");
            assertThat(script.exitCode()).isEqualTo(75);
            return script.out().lines().toList();
        }
    }

    /** On a busy machine one try may be too short; a server that starts again refuses for a moment. */
    @Test
    @Tag("deep") // quick: waitsAsLongAsNeededWithoutWait
    void waitsForAStoreThatIsSlowToAnswer() throws InterruptedException {
        try (FaultProxy proxy = FaultProxy.to(redis.host(), redis.port())) {
            proxy.holdRequests(true);
            try (CliProcess exec = CliProcess.start("exec", "--store", proxy.uri(), "slowly", "--", "echo", "ran")) {
                Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> proxy.pendingRequestBytes() > 0);
                Thread.sleep(4_000); // longer than the driver waits
                proxy.holdRequests(false);
                assertThat(exec.exitCode()).as(exec.err()).isZero();
                assertThat(exec.out()).isEqualTo("ran\n");
                assertThat(exec.err()).isEmpty();
            }
        }
    }

    @Test
    void stopsTheCommandAndExits76WhenTheLeaseIsLost() {
        try (CliProcess exec = CliProcess.start(
                "exec",
                "--store",
                redis.uri(),
                "--lease",
                "4s",
                "lost",
                "--",
                "sh",
                "-c",
                "trap 'echo stopping; exit 3' TERM; echo running; while :; do sleep 0.1; done")) {
            exec.awaitOut("running");
            redis.command("DEL", "lock:lost");
            assertThat(exec.exitCode()).isEqualTo(76);
            assertThat(exec.out()).isEqualTo("running\nstopping\n");
            // The shell may have a word of its own to say.
            assertThat(exec.err().lines().filter(line -> line.startsWith("holdfast: ")))
                    .singleElement()
                    .asString()
                    .startsWith("holdfast: lost: lease lost");
        }
    }

    @Test
    @Tag("deep") // quick: the test above
    void killsACommandThatDoesNotStopWhenTheLeaseIsLost() {
        try (CliProcess exec = CliProcess.start(
                "exec",
                "--store",
                redis.uri(),
                "--lease",
                "4s",
                "--kill-after",
                "500ms",
                "stubborn",
                "--",
                "sh",
                "-c",
                "trap '' TERM; echo running; while :; do sleep 0.1; done")) {
            exec.awaitOut("running");
            locks.forceRelease("stubborn");
            assertThat(exec.exitCode()).isEqualTo(76);
        }
    }

    @Test
    @Tag("deep") // quick: stopsTheCommandAndExits76WhenTheLeaseIsLost
    void exits76WhenTheCommandEndsBeforeTheLossIsNoticed() {
        try (CliProcess exec = exec("unnoticed", "sh", "-c", "echo running; read line; exit 5")) {
            exec.awaitOut("running");
            redis.command("DEL", "lock:unnoticed");
            exec.type("go on\n");
            assertThat(exec.exitCode()).isEqualTo(76);
            assertThat(exec.err()).startsWith("holdfast: unnoticed: lease lost").hasLineCount(1);
        }
    }

    @Test
    void takesTheStoreFromTheEnvironment() {
        try (CliProcess exec =
                CliProcess.start(Map.of("HOLDFAST_STORE", redis.uri()), "exec", "from-environment", "--", "true")) {
            assertThat(exec.exitCode()).isZero();
        }
    }

    @Test
    @Tag("deep") // quick: BadInputTest.commandThatCannotBeExecuted
    void runsAScriptThatCannotBeStartedNot(@TempDir Path dir) throws Exception {
        Path script = Files.writeString(dir.resolve("script"), "#!/no/such/interpreter\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
        try (CliProcess exec = exec("interpreter", script.toString())) {
            assertThat(exec.exitCode()).isEqualTo(126);
            assertThat(exec.err())
                    .contains("cannot be run: No such file or directory")
                    .hasLineCount(1);
        }
        assertThat(locks.inspect("interpreter").isLocked()).isFalse();
    }

    /** A name with a line feed or an escape sequence does nothing to the terminal. */
    @Test
    void namesAreWrittenOut() {
        String name = "a\nheld by  nobody\u001b[2J";
        assertThat(InProcess.run("inspect", "--store", redis.uri(), name).out())
                .contains("a\\u000aheld by  nobody\\u001b[2J")
                .doesNotContain("\u001b");
        assertThat(InProcess.run("release", "--force", "--store", redis.uri(), name)
                        .out())
                .isEqualTo("a\\u000aheld by  nobody\\u001b[2J: nobody held it" + System.lineSeparator());
    }

    @Test
    void inspectAndReleaseShowAndEndAHold() {
        Lease held = locks.tryAcquire("shown").orElseThrow();
        assertThat(InProcess.run("inspect", "--store", redis.uri(), "shown").out())
                .contains("held by", "token    " + held.fencingToken(), "waiting  nobody");
        assertThat(InProcess.run("release", "--force", "--store", redis.uri(), "shown")
                        .out())
                .startsWith("shown: released by force; it was held by ");
        assertThat(InProcess.run("inspect", "--store", redis.uri(), "shown").out())
                .contains("nobody");
        assertThat(InProcess.run("release", "--force", "--store", redis.uri(), "shown")
                        .out())
                .isEqualTo("shown: nobody held it" + System.lineSeparator());
    }

    private CliProcess exec(String name, String... command) {
        String[] args = new String[5 + command.length];
        args[0] = "exec";
        args[1] = "--store";
        args[2] = redis.uri();
        args[3] = name;
        args[4] = "--";
        System.arraycopy(command, 0, args, 5, command.length);
        return CliProcess.start(args);
    }

    private void awaitWaiter(String name) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> locks.inspect(name).waitingClients() > 0);
    }
}
