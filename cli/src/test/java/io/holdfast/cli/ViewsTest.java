package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.cli.process.Kill;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * What an operator sees of seven processes: one that holds a lock and is stopped, two that wait for it and for locks of
 * other libraries, two that wait for each other, and two that only seem to.
 */
@Tag("deep") // quick: InspectJsonTest, TopModelTest, and the lists of PermitsCommandsTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ViewsTest {

    private static final String REDISSON = "5f1c0a4e-1111-2222-3333-444455556666:42";

    /** A silent client is one that was not heard of for three periods of 5 s. */
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private final List<CliProcess> programs = new ArrayList<>();
    private RedisServer redis;
    private CliProcess stopped;

    @BeforeAll
    void start() throws Exception {
        redis = RedisServer.start();
        redis.command("HSET", "lock:legacy", REDISSON, "1");
        redis.command("PEXPIRE", "lock:legacy", "600000");
        redis.command("SET", "lock:by-hand", "me");
        stopped = program("billing", "nightly,order:7", "-");
        program("orders", "order:8", "nightly,nightly,legacy");
        program("left", "deadlock:a", "!deadlock:b");
        program("right", "deadlock:b", "!deadlock:a");
        program("import", "job:import", "job:export");
        program("export", "job:export", "job:import");
        programs.forEach(started -> started.type(""));
        LockClient reader = LockClient.connect(redis.uri());
        try (reader) {
            Awaitility.await()
                    .atMost(PATIENCE)
                    .until(() -> reader.cards().stream()
                            .anyMatch(card -> card.application().equals("billing") && card.heldCount() == 2));
        }
        Kill.send("STOP", List.of(stopped.pid()));
        Awaitility.await()
                .atMost(PATIENCE)
                .pollInterval(Duration.ofSeconds(1))
                .until(() -> run("ls").out().contains("DEAD free in"));
    }

    private CliProcess program(String name, String holds, String waits) {
        CliProcess program = CliProcess.program(LockProgram.class, redis.uri(), name, holds, waits);
        programs.add(program);
        program.awaitOut("holds");
        return program;
    }

    @AfterAll
    void stop() {
        programs.forEach(CliProcess::close);
        redis.close();
    }

    @Test
    void ls() {
        InProcess result = run("ls");
        assertThat(result.exitCode()).isZero();
        List<String> lines = result.out().lines().toList();
        assertThat(lines.get(0)).matches("NAME +HOLDER +HELD +ENDS +WAITERS +OLDEST +LOCKS/S +FLAGS");
        assertThat(line(result, "nightly"))
                .matches("nightly +billing@.* \\(pid " + stopped.pid()
                        + "\\) +\\S+ +in \\S+ +2 +\\S+ +- +DEAD free in \\S+");
        assertThat(line(result, "legacy"))
                .matches(
                        "legacy +Redisson client 5f1c0a4e-1111-2222-3333-444455556666, thread 42 +- +in \\S+ +1 +.*FOREIGN");
        assertThat(line(result, "deadlock:a")).matches("deadlock:a +left@.* renewed +1 .*CYCLE");
        assertThat(result.out())
                .contains("CYCLE: 2 clients wait for each other")
                .containsPattern("left@.* holds deadlock:a and has waited \\S+ for deadlock:b")
                .containsPattern("right@.* holds deadlock:b and has waited \\S+ for deadlock:a");
        // Two programs whose working threads hold what their other threads wait for.
        assertThat(line(result, "job:import")).matches("job:import +import@.* renewed +1 +\\S+ +-");
        assertThat(result.out())
                .contains("possible: these 2 processes wait for each other's locks; their thread dumps tell")
                .containsPattern("import@.* holds job:import and has waited \\S+ for job:export");
        assertThat(result.err()).contains("there may be a deadlock; looking again for up to 10 s");
        // Two wait for it, longer than anybody else.
        assertThat(lines.get(1)).startsWith("nightly ");
    }

    @Test
    void lsOfAPattern() {
        InProcess result = run("ls", "order:?");
        assertThat(result.out().lines().skip(1)).hasSize(2).allMatch(line -> line.startsWith("order:"));
        assertThat(result.out()).doesNotContain("CYCLE:");
        assertThat(run("ls", "nothing*").errLines())
                .last()
                .asString()
                .contains(
                        "no lock like nothing* is held or waited for, as all 6 clients say (a lock appears here up to 5 s");
        assertThat(run("inspect", "nothing").out())
                .contains("held by  nobody; no client of Holdfast waits for this name");
    }

    @Test
    void inspectOfADeadHoldersLock() {
        InProcess result = run("inspect", "nightly");
        assertThat(result.out())
                .containsPattern("held by +billing@.* \\(pid " + stopped.pid() + "\\), for \\S+")
                .containsPattern("id +hf-\\S+:")
                .containsPattern("token +\\d+")
                .containsPattern("ends +in \\S+: its client is silent, so nobody renews it")
                .containsPattern("flags +DEAD free in")
                .containsPattern("waiting +2 callers in 1 client, the longest for ")
                .containsPattern("  orders@.* \\(pid \\d+\\): 2 for ")
                .containsPattern("To break it: holdfast release --yes --holder hf-\\S+:\\w+ --store " + redis.uri()
                        + " nightly\n")
                .contains("A waiter gets the lock now instead of in ");
        assertThat(run("inspect", "--json", "nightly").out())
                .contains("\"flags\":[\"DEAD\"],\"waiters\":2,\"queue\":[{\"client\":\"hf-")
                .contains("\"holderTitle\":\"billing@");
    }

    /** Nobody of Holdfast waits for a key without an expiry, so only a question about it shows it. */
    @Test
    void inspectOfAKeyOfAnotherProgram() {
        assertThat(run("inspect", "by-hand").out())
                .contains("held by  a string that is no lock")
                .contains("ends     never: the key at the store has no expiry, so it is no lock of Holdfast")
                .contains("flags    NO EXPIRY, FOREIGN");
    }

    @Test
    void topPrintsOneFrameWithoutATerminal() {
        InProcess result = run("top");
        assertThat(result.out().lines().toList().get(1))
                .matches("6 clients \\(1 silent\\), 7 locks held, 7 waiters, - locks/s, 1 deadlock, 1 possible cycle");
        assertThat(result.out()).contains("nightly", "CYCLE: 2 clients", "possible: these 2 processes");
    }

    @Test
    void json() {
        String json = run("ls", "--json").out();
        assertThat(json.lines()).hasSize(1);
        assertThat(json)
                .contains("\"name\":\"nightly\",\"holder\":{\"id\":\"hf-")
                .contains("\"cycles\":[[{\"client\":\"hf-", "\"holds\":\"deadlock:a\"")
                .containsPattern("\"possibleCycles\":\\[\\[\\{\"client\":\"hf-[^}]*\"holds\":\"job:(im|ex)port\"")
                .contains("\"application\":\"billing\"", "\"silent\":true");
    }

    private InProcess run(String command, String... args) {
        return InProcess.on(redis.uri(), command, args);
    }

    private static String line(InProcess result, String name) {
        return result.out()
                .lines()
                .filter(line -> line.startsWith(name + " "))
                .findFirst()
                .orElseThrow(() -> new AssertionError(result.out()));
    }
}
