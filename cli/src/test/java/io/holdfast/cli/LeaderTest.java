package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.cli.process.Kill;
import io.holdfast.cli.process.ProcessTree;
import io.holdfast.testkit.faults.FaultProxy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** {@code leader}: when its command runs, and what ends it. */
@EnabledOnOs(OS.LINUX) // numbers of signals
class LeaderTest extends WithRedis {

    /** Says how it was started and stopped, and runs until then. */
    private static final String STOPPABLE =
            "trap 'echo stopping; exit 3' TERM; echo running $HOLDFAST_TOKEN; while :; do sleep 0.1; done";

    /** Says its number, and runs until it is ended. */
    private static final String SLEEPING = "echo $$; exec sleep 600";

    @Test
    void runsTheCommandWhenElectedAndEndsWithIt() {
        try (CliProcess leader = leader("ends", "echo $HOLDFAST_LOCK $HOLDFAST_TOKEN; read line; exit 7")) {
            leader.awaitOut("\n");
            String token = leader.out().strip().substring("leader:ends ".length());
            assertThat(leader.out()).isEqualTo("leader:ends " + token + "\n");
            assertThat(locks.inspect("leader:ends").fencingToken()).hasValue(Long.parseLong(token));
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> assertThat(
                                    locks.inspect("leader:ends").holderTitle().orElseThrow())
                            .startsWith("leader sh@"));
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> assertThat(InProcess.run("inspect", "--store", redis.uri(), "ends")
                                    .out())
                            .contains("There is a leadership of this name: holdfast inspect --store ")
                            .endsWith(" leader:ends\n"));
            leader.type("go on\n");
            assertThat(leader.exitCode()).isEqualTo(7);
            assertThat(leader.err()).contains("holdfast: leader:ends: leads, with token " + token + "\n");
        }
        assertReleased("ends");
    }

    @Test
    void theNextOneStartsItsCommandWhenTheFirstIsStopped() throws Exception {
        try (CliProcess first = leader("handed", STOPPABLE)) {
            first.awaitOut("running");
            try (CliProcess second = leader("handed", STOPPABLE)) {
                awaitCandidate("handed");
                assertThat(second.out()).isEmpty();
                Kill.send("TERM", List.of(first.pid()));
                assertThat(first.exitCode()).isEqualTo(3);
                assertThat(first.out()).endsWith("stopping\n");
                second.awaitOut("running");
                assertThat(token(second)).isGreaterThan(token(first));
                Kill.send("TERM", List.of(second.pid()));
                assertThat(second.exitCode()).isEqualTo(3);
            }
        }
        assertReleased("handed");
    }

    /** An operator has released the lock: the command is stopped, and runs again at the next election. */
    @Test
    @Tag("deep") // quick: theNextOneStartsItsCommandWhenTheFirstIsStopped
    void aRevokedOneWaitsForTheNextElection() throws Exception {
        try (CliProcess leader = leader("again", STOPPABLE)) {
            leader.awaitOut("running");
            String token = Long.toString(token(leader));
            assertThat(InProcess.run("release", "--yes", "--store", redis.uri(), "leader:again")
                            .out())
                    .startsWith("leader:again: released by force; it was held by leader sh@");
            leader.awaitOut("stopping\nrunning ");
            leader.awaitErr("holdfast: leader:again: leads, with token " + token + "\n");
            leader.awaitErr("holdfast: leader:again: no longer leads, the command is stopped (");
            Kill.send("TERM", List.of(leader.pid()));
            assertThat(leader.exitCode()).isEqualTo(3);
        }
        assertReleased("again");
    }

    @Test
    @Tag("deep") // quick: theNextOneStartsItsCommandWhenTheFirstIsStopped
    void aCommandThatDoesNotStopInTimeIsKilled() throws Exception {
        try (CliProcess leader = CliProcess.start(
                "leader",
                "--store",
                redis.uri(),
                "--stop-within",
                "500ms",
                "stubborn",
                "--",
                "sh",
                "-c",
                "trap '' TERM; echo running; while :; do sleep 0.1; done")) {
            leader.awaitOut("running");
            assertThat(locks.forceRelease("leader:stubborn")).isTrue();
            leader.awaitOut("running\nrunning\n");
            Kill.send("TERM", List.of(leader.pid()));
            assertThat(leader.exitCode()).isEqualTo(137);
        }
        assertReleased("stubborn");
    }

    /** The command would run again at the next election, which comes at once. */
    @Test
    @Tag("deep")
    void aSignalDuringARevocationEndsTheCandidateToo(@TempDir Path dir) throws Exception {
        Path end = dir.resolve("end");
        try (CliProcess leader = CliProcess.start(
                "leader",
                "--store",
                redis.uri(),
                "--lease",
                "10m",
                "both",
                "--",
                "sh",
                "-c",
                "trap 'echo stopping' TERM; echo running; until [ -e '" + end + "' ]; do sleep 0.1; done; exit 5")) {
            leader.awaitOut("running\n");
            assertThat(locks.forceRelease("leader:both")).isTrue();
            leader.awaitOut("running\nstopping\n");
            Kill.send("TERM", List.of(leader.pid()));
            leader.awaitOut("running\nstopping\nstopping\n");
            Files.createFile(end);
            assertThat(leader.exitCode()).isEqualTo(5);
            assertThat(leader.out()).isEqualTo("running\nstopping\nstopping\n");
        }
        assertReleased("both");
    }

    @Test
    @Tag("deep")
    void leadsWithinALeaseAfterTheFirstIsKilled() throws Exception {
        try (CliProcess first = shortLease("killed", SLEEPING)) {
            first.awaitOut("\n");
            // It runs on, as documented: nobody is left who could stop it.
            ProcessHandle orphan =
                    ProcessHandle.of(Long.parseLong(first.out().strip())).orElseThrow();
            try (CliProcess second = shortLease("killed", "echo running")) {
                awaitCandidate("killed");
                Kill.send("KILL", List.of(first.pid()));
                second.awaitOut("running");
                assertThat(second.exitCode()).isZero();
                assertThat(orphan.isAlive()).isTrue();
            } finally {
                orphan.destroyForcibly();
            }
        }
    }

    @Test
    @Tag("deep")
    void aLeaderThatWasPausedForLongerThanItsLeaseStopsItsCommandWhenItGoesOn() throws Exception {
        try (CliProcess first = shortLease("paused", SLEEPING)) {
            first.awaitOut("\n");
            try (CliProcess second = shortLease("paused", SLEEPING)) {
                awaitCandidate("paused");
                Kill.send("STOP", List.of(first.pid()));
                second.awaitOut("\n");
                assertThat(first.out()).hasLineCount(1);
                assertThat(firstCommandRuns(first)).isTrue();
                Kill.send("CONT", List.of(first.pid()));
                first.awaitErr("no longer leads, the command is stopped (");
                Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> !firstCommandRuns(first));
                assertThat(first.isAlive()).isTrue();
            }
        }
    }

    @Test
    @Tag("deep")
    void aStoreThatIsAwayStopsTheCommandAndIsAskedAgain() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(redis.host(), redis.port());
                CliProcess leader = CliProcess.start(
                        "leader", "--store", proxy.uri(), "--lease", "3s", "away", "--", "sh", "-c", SLEEPING)) {
            leader.awaitOut("\n");
            proxy.refuse(true);
            proxy.cutAll();
            leader.awaitErr("holdfast: leader:away: the store failed, and is tried again (");
            leader.awaitErr("no longer leads, the command is stopped (");
            proxy.refuse(false);
            leader.awaitErr("holdfast: leader:away: the store works again\n");
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> leader.out().lines().count() >= 2);
            assertThat(leader.isAlive()).isTrue();
        }
    }

    /** While no command runs, a signal that only the command would know does nothing. */
    @Test
    @Tag("deep")
    void aSignalEndsTheWait() throws Exception {
        try (CliProcess first = leader("waiting", STOPPABLE)) {
            first.awaitOut("running");
            try (CliProcess second = leader("waiting", "echo ran")) {
                awaitCandidate("waiting");
                Kill.send("USR1", List.of(second.pid()));
                Kill.send("TERM", List.of(second.pid()));
                assertThat(second.exitCode()).isEqualTo(143);
                assertThat(second.out()).isEmpty();
            }
            assertThat(first.isAlive()).isTrue();
        }
    }

    @Test
    @Tag("deep")
    void aCommandThatCannotBeStartedEndsTheCandidate(@TempDir Path dir) throws IOException {
        Path script = Files.writeString(dir.resolve("script"), "#!/no/such/interpreter\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
        try (CliProcess leader =
                CliProcess.start("leader", "-q", "--store", redis.uri(), "interpreter", "--", script.toString())) {
            assertThat(leader.exitCode()).isEqualTo(126);
            assertThat(leader.err()).contains("cannot be run: No such file or directory");
        }
        assertReleased("interpreter");
    }

    @Test
    @Tag("deep") // quick: NestedExecTest
    void theSameLeadershipInsideIsRefused() {
        List<String> inside = CliProcess.words("leader", "--store", redis.uri(), "nested", "--", "echo", "inside");
        List<String> args = new ArrayList<>(List.of("leader", "-q", "--store", redis.uri(), "nested", "--"));
        args.addAll(inside);
        try (CliProcess outside = CliProcess.start(args.toArray(String[]::new))) {
            assertThat(outside.exitCode()).isEqualTo(64);
            assertThat(outside.out()).isEmpty();
            assertThat(outside.err()).contains("holdfast: leader:nested: held by the holdfast around this one");
        }
    }

    /** With half a minute to stop. */
    private CliProcess leader(String name, String script) {
        return leader(name, "2m", script);
    }

    /** With little time to stop: it may be too short for a trap. */
    private CliProcess shortLease(String name, String script) {
        return leader(name, "10s", script);
    }

    private CliProcess leader(String name, String lease, String script) {
        return CliProcess.start("leader", "--store", redis.uri(), "--lease", lease, name, "--", "sh", "-c", script);
    }

    /** Whether the command runs that said its number first. */
    private static boolean firstCommandRuns(CliProcess leader) throws InterruptedException {
        long pid = Long.parseLong(leader.out().lines().findFirst().orElseThrow());
        Optional<ProcessHandle> command = ProcessHandle.of(pid);
        return command.isPresent() && !new ProcessTree(command.get()).awaitEnd(Duration.ZERO);
    }

    /** Of a command that said it when it was started. */
    private static long token(CliProcess leader) {
        String line = leader.out().lines().findFirst().orElseThrow();
        return Long.parseLong(line.substring("running ".length()));
    }

    private void awaitCandidate(String name) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> locks.inspect("leader:" + name).waitingClients() > 0);
    }

    private void assertReleased(String name) {
        locks.tryAcquire("leader:" + name).orElseThrow().release();
    }
}
