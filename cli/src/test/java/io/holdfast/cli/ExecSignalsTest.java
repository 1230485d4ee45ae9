package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.cli.process.Kill;
import io.holdfast.cli.process.ProcessTree;
import io.holdfast.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Signals that {@code exec} gets while it waits and while its command runs. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ExecSignalsTest {

    private RedisServer redis;
    private LockClient locks;

    @BeforeAll
    void startServer() {
        redis = RedisServer.start();
        locks = LockClient.connect(redis.uri());
    }

    @AfterAll
    void stopServer() {
        locks.close();
        redis.close();
    }

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
        try (CliProcess exec =
                exec("hup", "trap 'echo reread' HUP; echo running; while ! read -r line; do :; done; echo $line")) {
            exec.awaitOut("running");
            signal("HUP", exec);
            exec.awaitOut("reread");
            assertThat(exec.isAlive()).isTrue();
            exec.type("end\n");
            assertThat(exec.exitCode()).isZero();
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
    void stopsWaitingAndLeavesNothing() throws Exception {
        try (Lease held = locks.tryAcquire("waiting").orElseThrow()) {
            for (String signal : ignoresInt() ? List.of("TERM") : List.of("TERM", "INT")) {
                try (CliProcess exec = exec("waiting", "echo ran")) {
                    awaitWaiters("waiting", 1);
                    signal(signal, exec);
                    assertThat(exec.exitCode()).isEqualTo(signal.equals("TERM") ? 143 : 130);
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
    private static boolean ignoresInt() throws IOException {
        return ignores(2);
    }

    private static boolean ignores(int signal) throws IOException {
        Path status = Path.of("/proc/self/status");
        if (!Files.exists(status)) {
            return false;
        }
        return Files.readAllLines(status).stream()
                .filter(line -> line.startsWith("SigIgn:"))
                .mapToLong(line -> Long.parseUnsignedLong(line.substring(7).strip(), 16))
                .anyMatch(mask -> (mask & (1L << (signal - 1))) != 0);
    }
}
