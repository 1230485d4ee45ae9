package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.CardDetail;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Read-write locks in {@code release} and the commands that look. */
class ReadWriteCommandsTest extends WithRedis {

    private Lease read(String name) {
        return keep(locks.tryAcquireRead(name).orElseThrow());
    }

    private Lease write(String name) {
        return keep(locks.tryAcquireWrite(name).orElseThrow());
    }

    // --- looks ---

    @Test
    void inspectShowsTheReadWriteLockOfAName() {
        Lease held = write("seen");
        CompletionStage<Lease> waiting = locks.acquireReadAsync("seen");
        Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            InProcess look = run("inspect", "seen");
            assertThat(look.exitCode()).isZero();
            assertThat(look.out())
                    .startsWith("name     read-write:seen\nheld     a writer has it\n  " + held.holderId()
                            + ": writes, ends in ")
                    .contains("waiting  1 caller in 1 client")
                    .contains(": 1 to read for ")
                    .contains("holdfast release --yes --holder " + held.holderId() + " --store ")
                    .contains(" read-write:seen\n");
        });
        assertThat(run("inspect", "--json", "seen").out())
                .startsWith("{\"name\":\"seen\",\"locked\":false,")
                .contains("\"permits\":null,\"readWrite\":{\"waiting\":1,\"waiters\":1,\"queue\":[{")
                .contains("\"mode\":\"read\"}],\"holders\":[{\"holder\":\"" + held.holderId() + "\"")
                .contains("\"mode\":\"write\",\"remainingMillis\":");
        waiting.toCompletableFuture().cancel(false);
    }

    @Test
    void aLockPermitsAndAReadWriteLockOfOneNameAreShownOneAfterTheOther() {
        keep(locks.tryAcquire("three").orElseThrow());
        keep(locks.permits("three", 2).tryAcquire().orElseThrow());
        read("three");
        assertThat(run("inspect", "three").out())
                .startsWith("name     three\n")
                .contains("\n\nname     permits:three\n")
                .contains("\n\nname     read-write:three\nheld     1 reader has it\n");
        assertThat(run("inspect", "read-write:three").out()).startsWith("name     read-write:three\n");
        assertThat(run("inspect", "read-write:none").out())
                .startsWith("name     read-write:none\nheld     nobody has it\n")
                .doesNotContain("To end one hold");
    }

    @Test
    void listsHaveARowForEachReadWriteLock() {
        read("listed");
        read("listed");
        CompletionStage<Lease> waiting = locks.acquireWriteAsync("listed");
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(
                                run("ls", "list*").out().lines().skip(1).toList())
                        .hasSize(1)
                        .first()
                        .asString()
                        .matches("read-write:listed +read \\S+@\\S+ x2 +\\S+ +- +1 .*"));
        assertThat(run("ls", "read-write:listed").out()).contains("read-write:listed ");
        assertThat(run("ls", "--json", "listed").out())
                .contains("\"permits\":null,\"readWrite\":{\"title\":\"read ")
                .contains("\"mode\":\"read\",\"leases\":2,")
                .contains("\"cycles\":[]");
        assertThat(run("top").out()).containsPattern("read-write:listed +read ");
        waiting.toCompletableFuture().cancel(false);
    }

    @Test
    @Tag("deep") // quick: WatchTest.followsALock
    void watchFollowsReadersAndWriters() throws InterruptedException {
        // A card would add who the holder is, at a time that depends on the machine.
        try (LockClient client = LockClient.builder()
                        .uri(redis.uri())
                        .cards(CardDetail.OFF)
                        .build();
                CliProcess watch =
                        CliProcess.start("watch", "--interval", "50ms", "--store", redis.uri(), "read-write:followed");
                CliProcess json = CliProcess.start(
                        "watch", "--json", "--interval", "50ms", "--store", redis.uri(), "read-write:followed")) {
            watch.awaitOut("  nobody has it\n");
            json.awaitOut("\"name\":\"read-write:followed\",\"event\":\"free\"");
            Lease lease = client.acquireWrite("followed");
            watch.awaitOut("  acquired by " + lease.holderId() + " to write; a writer has it\n");
            json.awaitOut("\"event\":\"acquired\",\"holder\":\"" + lease.holderId() + "\"");
            json.awaitOut("\"mode\":\"write\"");
            lease.release();
            watch.awaitOut("  released by " + lease.holderId() + " to write, or taken away; nobody has it\n");
            assertThat(watch.err()).isEmpty();
        }
    }

    // --- release ---

    @Test
    void releaseEndsOneHoldOrAll() {
        Lease first = read("taken");
        try (LockClient other = LockClient.connect(redis.uri())) {
            Lease second = other.tryAcquireRead("taken").orElseThrow();
            InProcess refused = run("release", "-y", "taken");
            assertThat(refused.exitCode()).isEqualTo(64);
            assertThat(refused.errLines())
                    .containsExactly(
                            "holdfast: taken: the read-write lock is held by 2 holders (expected: --holder ID to end"
                                    + " one hold, whose id inspect shows, or --all)");

            assertThat(run("release", "-y", "--holder", first.holderId(), "taken")
                            .out())
                    .startsWith("taken: released by force; it was held by ")
                    .hasLineCount(1);
            assertThat(second.isValid()).isTrue();
            Awaitility.await().until(() -> !first.isValid());
            InProcess gone = run("release", "-y", "--holder", first.holderId(), "taken");
            assertThat(gone.exitCode()).isEqualTo(75);
            assertThat(gone.errLines())
                    .containsExactly("holdfast: taken: not released, because " + first.holderId()
                            + " holds it neither to read nor to write (expected: another look)");

            assertThat(run("release", "-y", "--all", "read-write:taken").out())
                    .isEqualTo("read-write:taken: all holds on the read-write lock ended by force; 1 holder\n");
            Awaitility.await().until(() -> !second.isValid());
        }
        assertThat(run("release", "-y", "taken").out()).isEqualTo("taken: nobody held it\n");
    }

    @Test
    void releaseAsksWhichIsMeant() {
        Lease permit = keep(locks.permits("any", 2).tryAcquire().orElseThrow());
        Lease writer = write("any");
        Lease lock = keep(locks.tryAcquire("any").orElseThrow());
        InProcess refused = run("release", "-y", "any");
        assertThat(refused.exitCode()).isEqualTo(64);
        assertThat(refused.errLines())
                .containsExactly("holdfast: any: a lock and permits and a read-write lock of this name are held"
                        + " (expected: permits:any for the permits, or read-write:any for the read-write lock, or"
                        + " --holder " + lock.holderId() + " for the lock)");
        assertThat(run("release", "-y", "--holder", writer.holderId(), "any").exitCode())
                .isZero();
        Awaitility.await().until(() -> !writer.isValid());
        assertThat(permit.isValid()).isTrue();
        assertThat(lock.isValid()).isTrue();
    }
}
