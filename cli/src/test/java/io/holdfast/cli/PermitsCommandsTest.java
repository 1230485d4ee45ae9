package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.CardDetail;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.Permits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Permits in {@code exec}, {@code release}, and the commands that look; readers and writers in {@code exec}. */
class PermitsCommandsTest extends WithRedis {

    private Lease take(Permits permits) {
        return keep(permits.tryAcquire().orElseThrow());
    }

    private CliProcess exec(String... args) {
        List<String> words = new ArrayList<>(List.of("exec", "--store", redis.uri()));
        words.addAll(List.of(args));
        return CliProcess.start(words.toArray(String[]::new));
    }

    // --- exec ---

    @Test
    void execRunsTheCommandUnderPermitsAndReleasesThem() {
        Permits permits = locks.permits("exports", 3);
        try (CliProcess exec = exec(
                "--permits",
                "3",
                "--weight",
                "2",
                "exports",
                "--",
                "sh",
                "-c",
                "echo $HOLDFAST_LOCK $HOLDFAST_TOKEN; read line; exit 7")) {
            exec.awaitOut("exports ");
            assertThat(permits.inspect().used()).isEqualTo(2);
            assertThat(locks.inspect("exports").isLocked()).isFalse();
            Lease beside = take(permits);
            assertThat(permits.tryAcquire()).isEmpty();
            beside.release();
            exec.type("go on\n");
            assertThat(exec.exitCode()).isEqualTo(7);
            assertThat(exec.err()).isEmpty();
        }
        assertThat(permits.inspect().isUsed()).isFalse();
    }

    @Test
    @Tag("deep") // quick: WaitNotesTest
    void execSaysWhoHoldsThePermitsThatItDidNotGet() {
        take(locks.permits("busy", 2).weight(2));
        try (CliProcess exec = exec("--permits", "2", "-w", "3s", "busy", "--", "false")) {
            assertThat(exec.exitCode()).isEqualTo(75);
            assertThat(exec.err())
                    .startsWith("holdfast: busy: not acquired within 3s, 2 of 2 permits are held by ")
                    .hasLineCount(1);
        }
        assertThat(locks.permits("busy", 2).inspect().waiting()).isZero();
    }

    @Test
    @Tag("deep") // quick: ExecTest.stopsTheCommandAndExits76WhenTheLeaseIsLost
    void execStopsACommandWhosePermitIsLost() {
        try (CliProcess exec =
                exec("--permits", "2", "lost", "--", "sh", "-c", "echo running; while :; do sleep 0.1; done")) {
            exec.awaitOut("running");
            assertThat(locks.permits("lost", 2).forceReleaseAll()).isTrue();
            assertThat(exec.exitCode()).isEqualTo(76);
            assertThat(exec.err()).startsWith("holdfast: lost: lease lost, the command was not protected to its end");
        }
    }

    /** It would wait for the end of the command, which waits for it. */
    @Test
    @Tag("deep") // quick: NestedExecTest
    void thePermitsThatAnExecAroundHoldsAreRefusedAtOnce() {
        List<String> inner = CliProcess.words(
                new String[] {"exec", "--store", redis.uri(), "--permits", "2", "--weight", "2", "in", "--", "echo", "x"
                });
        List<String> outer = new ArrayList<>(List.of("--permits", "2", "in", "--"));
        outer.addAll(inner);
        try (CliProcess exec = exec(outer.toArray(String[]::new))) {
            assertThat(exec.exitCode()).isEqualTo(64);
            assertThat(exec.out()).isEmpty();
            assertThat(exec.err())
                    .isEqualTo("holdfast: in: the holdfast around this one holds 1 of the 2 permits, and would wait for"
                            + " itself (expected: a larger limit, or only one of the two)\n");
        }
    }

    @Test
    void badNumbersAreRefusedBeforeAnythingIsSent() {
        String nowhere = "redis://127.0.0.1:1";
        assertRefused("--permits: 0 (expected: from 1 to 1048576)", nowhere, "--permits", "0");
        assertRefused("--permits: 1048577 (expected: from 1 to 1048576)", nowhere, "--permits=1048577");
        assertRefused(
                "--weight: 3 (expected: from 1 to 2, the number of --permits)",
                nowhere,
                "--permits",
                "2",
                "--weight",
                "3");
        assertRefused("--weight: 0 (expected: from 1 to 2", nowhere, "--permits", "2", "--weight", "0");
        assertRefused("--weight: 2 without --permits (expected: --permits N, too)", nowhere, "--weight", "2");
        String oneOf = "--permits, --read and --write exclude each other (expected: one of them)";
        assertRefused(oneOf, nowhere, "--read", "--write");
        assertRefused(oneOf, nowhere, "--read", "--permits", "2");
        assertRefused("--permits: two (expected: a whole number)", nowhere, "--permits", "two");
    }

    private static void assertRefused(String expected, String store, String... options) {
        List<String> words = new ArrayList<>(List.of("exec", "--store", store));
        words.addAll(List.of(options));
        words.addAll(List.of("name", "--", "false"));
        InProcess result = InProcess.run(words.toArray(String[]::new));
        assertThat(result.exitCode()).isEqualTo(64);
        assertThat(result.err()).startsWith("holdfast: " + expected).hasLineCount(1);
    }

    @Test
    void aStoreWithoutPermitsIsOneSentence() {
        InProcess result = InProcess.run(
                "exec", "--store", redis.uri() + "?mode=commands", "--permits", "2", "name", "--", "false");
        assertThat(result.exitCode()).isEqualTo(69);
        assertThat(result.err())
                .contains("has no permits and no read-write locks (expected: ")
                .hasLineCount(1);
    }

    // --- readers and writers ---

    @Test
    @Tag("deep") // quick: the first test, WaitNotesTest and ReadWriteCommandsTest
    void execRunsReadersTogetherAndAWriterAlone() {
        String[] reading = {"--read", "catalog", "--", "sh", "-c", "echo reading $HOLDFAST_LOCK; read line"};
        try (CliProcess one = exec(reading);
                CliProcess two = exec(reading)) {
            one.awaitOut("reading catalog\n");
            two.awaitOut("reading catalog\n");
            assertThat(locks.tryAcquireWrite("catalog")).isEmpty();
            try (CliProcess writer = exec("--write", "-w", "3s", "catalog", "--", "echo", "written")) {
                assertThat(writer.exitCode()).isEqualTo(75);
                assertThat(writer.err())
                        .startsWith("holdfast: catalog: not acquired within 3s, 2 readers have it: ")
                        .hasLineCount(1);
            }
            one.type("go on\n");
            two.type("go on\n");
            assertThat(one.exitCode()).isZero();
            assertThat(two.exitCode()).isZero();
        }
        try (CliProcess writer = exec("--write", "catalog", "--", "sh", "-c", "echo writing; read line")) {
            writer.awaitOut("writing");
            assertThat(locks.tryAcquireRead("catalog")).isEmpty();
            // The lock of the name is another thing.
            locks.tryAcquire("catalog").orElseThrow().release();
            try (CliProcess reader = exec("--read", "-n", "catalog", "--", "false")) {
                assertThat(reader.exitCode()).isEqualTo(75);
                assertThat(reader.err())
                        .startsWith("holdfast: catalog: not acquired, a writer has it: ")
                        .hasLineCount(1);
            }
            writer.type("go on\n");
            assertThat(writer.exitCode()).isZero();
        }
        keep(locks.tryAcquireRead("catalog").orElseThrow());
    }

    /** The one inside would wait for the end of the command, which waits for it. */
    @Test
    @Tag("deep") // quick: NestedExecTest
    void aWriteLockThatAnExecAroundHoldsIsRefusedAtOnce() {
        List<String> words = new ArrayList<>(List.of("--write", "in", "--"));
        words.addAll(
                CliProcess.words(new String[] {"exec", "--store", redis.uri(), "--read", "in", "--", "echo", "x"}));
        try (CliProcess exec = exec(words.toArray(String[]::new))) {
            assertThat(exec.exitCode()).isEqualTo(64);
            assertThat(exec.out()).isEmpty();
            assertThat(exec.err())
                    .isEqualTo(
                            "holdfast: in: the holdfast around this one holds the read-write lock, and would wait for"
                                    + " itself (expected: another lock, or only one of the two)\n");
        }
    }

    // --- looks ---

    @Test
    void inspectShowsThePermitsOfAName() {
        Lease held = take(locks.permits("seen", 5).weight(2));
        Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            InProcess look = run("inspect", "seen");
            assertThat(look.exitCode()).isZero();
            assertThat(look.out())
                    .startsWith(
                            "name     permits:seen\nused     2 of 5\n  " + held.holderId() + ": 2 permits, ends in ")
                    .contains("waiting  nobody")
                    .contains("holdfast release --yes --holder " + held.holderId() + " --store ");
        });
        assertThat(run("inspect", "permits:seen").out()).startsWith("name     permits:seen\nused     2 of 5\n");
        assertThat(run("inspect", "--json", "seen").out())
                .startsWith("{\"name\":\"seen\",\"locked\":false,")
                .contains(
                        "\"permits\":{\"used\":2,\"limits\":[5],\"waiting\":0,\"waiters\":0,\"queue\":[],\"holders\":[{\"holder\":\""
                                + held.holderId() + "\"");
        try (Lease lock = locks.tryAcquire("seen").orElseThrow()) {
            assertThat(run("inspect", "seen").out())
                    .startsWith("name     seen\n")
                    .contains("id       " + lock.holderId())
                    .contains("\n\nname     permits:seen\n");
        }
    }

    @Test
    void manyHoldsAreFoldedByClient() {
        Permits permits = locks.permits("many", 30);
        for (int i = 0; i < 21; i++) {
            take(permits);
        }
        assertThat(run("inspect", "many").out()).contains(": 21 permits by 21 leases\n", "inspect --json has the ids");
    }

    @Test
    void aNameWithoutPermitsIsALock() {
        assertThat(run("inspect", "nothing").out())
                .startsWith("name     nothing\n")
                .doesNotContain("permits");
        assertThat(run("inspect", "permits:nothing").out())
                .startsWith("name     permits:nothing\nused     0, of a limit that no card has yet\n")
                .doesNotContain("To end one hold");
    }

    @Test
    void listsHaveARowForEachNameOfPermits() throws Exception {
        take(locks.permits("listed", 5).weight(2));
        take(locks.permits("listed", 5).weight(3));
        CompletionStage<Lease> waiting = locks.permits("listed", 5).acquireAsync();
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(
                                run("ls", "list*").out().lines().skip(1).toList())
                        .hasSize(1)
                        .first()
                        .asString()
                        .matches("permits:listed +5/5 \\S+@\\S+ x2 +\\S+ +- +1 .*"));
        assertThat(run("ls", "permits:listed").out()).contains("permits:listed ");
        assertThat(run("ls", "--json", "listed").out())
                .contains("\"permits\":{\"used\":5,\"limits\":[5],\"title\":\"5/5 ")
                .contains("\"cycles\":[]");
        assertThat(run("top").out()).containsPattern("permits:listed +5/5 ");
        waiting.toCompletableFuture().cancel(false);
    }

    @Test
    @Tag("deep") // quick: WatchTest.followsALock
    void watchFollowsPermits() throws InterruptedException {
        // A card would add who the holder is, at a time that depends on the machine.
        try (LockClient client = LockClient.builder()
                        .uri(redis.uri())
                        .cards(CardDetail.OFF)
                        .build();
                CliProcess watch =
                        CliProcess.start("watch", "--interval", "50ms", "--store", redis.uri(), "permits:followed");
                CliProcess json = CliProcess.start(
                        "watch", "--json", "--interval", "50ms", "--store", redis.uri(), "permits:followed")) {
            watch.awaitOut("  no permit is held\n");
            json.awaitOut("\"name\":\"permits:followed\",\"event\":\"free\"");
            Lease lease = client.permits("followed", 4).weight(3).acquire();
            watch.awaitOut("  acquired by " + lease.holderId() + " with 3 permits; 3 permits are held\n");
            json.awaitOut("\"event\":\"acquired\",\"holder\":\"" + lease.holderId() + "\"");
            lease.release();
            watch.awaitOut(
                    "  released by " + lease.holderId() + " with 3 permits, or taken away; 0 permits are held\n");
            assertThat(watch.err()).isEmpty();
        }
    }

    @Test
    void doctorSaysWhetherTheStoreHasPermits() {
        assertThat(run("doctor").out())
                .contains("OK       permits      this store has permits and read-write locks, too");
        assertThat(InProcess.run("doctor", "--store", redis.uri() + "?mode=commands")
                        .out())
                .contains("OK       permits      this store has locks and leaderships, but no permits and no"
                        + " read-write locks");
    }

    // --- release ---

    @Test
    void releaseEndsOneHoldOrAll() {
        Permits permits = locks.permits("taken", 9);
        Lease first = take(permits.weight(2));
        Lease second = take(permits);
        take(permits);
        InProcess refused = run("release", "-y", "taken");
        assertThat(refused.exitCode()).isEqualTo(64);
        assertThat(refused.errLines())
                .containsExactly(
                        "holdfast: taken: permits are held by 3 holders (expected: --holder ID to end one hold,"
                                + " whose id inspect shows, or --all)");
        assertThat(permits.inspect().used()).isEqualTo(4);

        assertThat(run("release", "-y", "--holder", first.holderId(), "taken").out())
                .startsWith("taken: permits released by force; they were held by ")
                .hasLineCount(1);
        assertThat(permits.inspect().used()).isEqualTo(2);
        assertThat(second.isValid()).isTrue();
        InProcess gone = run("release", "-y", "--holder", first.holderId(), "taken");
        assertThat(gone.exitCode()).isEqualTo(75);
        assertThat(gone.errLines())
                .containsExactly("holdfast: taken: not released, because " + first.holderId()
                        + " holds no permits of it (expected: another look)");

        InProcess twoWays = run("release", "-y", "--all", "--holder", first.holderId(), "taken");
        assertThat(twoWays.exitCode()).isEqualTo(64);
        assertThat(twoWays.errLines())
                .containsExactly("holdfast: --all and --holder exclude each other (expected: one of them)");
        assertThat(run("release", "-y", "--all", "taken").out())
                .isEqualTo("taken: all permits released by force; 2 holders had 2\n");
        assertThat(permits.inspect().isUsed()).isFalse();
        assertThat(run("release", "-y", "taken").out()).isEqualTo("taken: nobody held it\n");
    }

    @Test
    void releaseTakesTheOnlyHold() {
        Lease lease = take(locks.permits("only", 2));
        assertThat(run("release", "-y", "only").out()).startsWith("only: permits released by force; ");
        Awaitility.await().until(() -> !lease.isValid());
    }

    @Test
    void releaseAsksWhichIsMeant() {
        Lease permit = take(locks.permits("both", 2));
        Lease lock = locks.tryAcquire("both").orElseThrow();
        InProcess refused = run("release", "-y", "both");
        assertThat(refused.exitCode()).isEqualTo(64);
        assertThat(refused.errLines())
                .containsExactly("holdfast: both: both a lock and permits of this name are held (expected:"
                        + " permits:both for the permits, or --holder " + lock.holderId() + " for the lock)");
        assertThat(run("release", "-y", "permits:both").exitCode()).isZero();
        Awaitility.await().until(() -> !permit.isValid());
        assertThat(lock.isValid()).isTrue();
        assertThat(run("release", "-y", "--holder", lock.holderId(), "both").out())
                .startsWith("both: released by force; it was held by ");
        Awaitility.await().until(() -> !lock.isValid());
    }
}
