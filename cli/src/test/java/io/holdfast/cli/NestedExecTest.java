package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What the command of {@code exec} gets to know, and a {@code holdfast} that is called by that command. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class NestedExecTest {

    private RedisServer redis;
    private RedisServer other;

    @BeforeAll
    void startServers() {
        redis = RedisServer.builder().password("open-sesame").start();
        other = RedisServer.start();
    }

    @AfterAll
    void stopServers() {
        other.close();
        redis.close();
    }

    /** It would wait for the end of the command, which waits for it. */
    @Test
    void theSameNameInsideIsRefusedAtOnce() {
        try (CliProcess exec = exec("twice", CliProcess.words(args(redis, "twice", "echo", "inside")))) {
            assertThat(exec.exitCode()).isEqualTo(64);
            assertThat(exec.out()).isEmpty();
            assertThat(exec.err()).hasLineCount(1).startsWith("holdfast: twice: held by the holdfast around this one");
        }
    }

    @Test
    @Tag("deep")
    void theSameNameFurtherInsideIsRefusedToo() {
        List<String> innermost = CliProcess.words(args(redis, "outer", "echo", "inside"));
        List<String> middle = CliProcess.words(args(redis, "middle", innermost.toArray(String[]::new)));
        try (CliProcess exec = exec("outer", middle)) {
            assertThat(exec.exitCode()).isEqualTo(64);
            assertThat(exec.out()).isEmpty();
            assertThat(exec.err()).startsWith("holdfast: outer: held by the holdfast around this one");
        }
    }

    @Test
    @Tag("deep")
    void anotherNameInsideIsLocked() {
        try (CliProcess exec = exec("one", CliProcess.words(args(redis, "another", "echo", "inside")))) {
            assertThat(exec.exitCode()).isZero();
            assertThat(exec.out()).isEqualTo("inside\n");
        }
    }

    @Test
    @Tag("deep")
    void theSameNameOfAnotherStoreInsideIsLocked() {
        try (CliProcess exec = exec("here", CliProcess.words(args(other, "here", "echo", "inside")))) {
            assertThat(exec.exitCode()).isZero();
            assertThat(exec.out()).isEqualTo("inside\n");
        }
    }

    /** A program that was started by the command may live longer than the exec, and keeps its variables. */
    @Test
    @Tag("deep")
    void theNameOfAnExecThatHasEndedIsWaitedForLikeAnyOther() {
        String variables;
        try (CliProcess exec = exec("ended", List.of("sh", "-c", "echo $HOLDFAST_HOLDERS"))) {
            assertThat(exec.exitCode()).isZero();
            variables = exec.out().strip();
            assertThat(variables).isNotEmpty();
        }
        try (LockClient locks = LockClient.connect(redis.uri());
                Lease held = locks.tryAcquire("ended").orElseThrow();
                CliProcess exec = CliProcess.start(
                        Map.of("HOLDFAST_HOLDERS", variables, "HOLDFAST_LOCK", "ended", "HOLDFAST_STORE", redis.uri()),
                        "exec",
                        "-n",
                        "ended",
                        "--",
                        "true")) {
            assertThat(exec.exitCode()).isEqualTo(75);
            assertThat(held.isValid()).isTrue();
        }
    }

    @Test
    void theCommandGetsNoStoreAndNoPassword() {
        try (CliProcess exec = CliProcess.start(Map.of("HOLDFAST_STORE", redis.uri()), "exec", "secret", "--", "env")) {
            assertThat(exec.exitCode()).isZero();
            assertThat(exec.out())
                    .contains("HOLDFAST_LOCK=secret")
                    .doesNotContain("HOLDFAST_STORE")
                    .doesNotContain("open-sesame");
        }
    }

    @Test
    @Tag("deep")
    void theCommandGetsTheStoreOnRequest() {
        try (CliProcess exec = CliProcess.start(
                "exec", "--store", redis.uri(), "--pass-store", "passed", "--", "sh", "-c", "echo $HOLDFAST_STORE")) {
            assertThat(exec.exitCode()).isZero();
            assertThat(exec.out()).isEqualTo(redis.uri() + "\n");
        }
    }

    /** The default is most likely another store, where nobody else takes these locks. */
    @Test
    @Tag("deep") // quick: theCommandGetsNoStoreAndNoPassword
    void noStoreInsideIsRefusedRatherThanTheDefaultTaken() {
        try (CliProcess exec = exec("no store", CliProcess.words("exec", "inner", "--", "echo", "inside"))) {
            assertThat(exec.exitCode()).isEqualTo(64);
            assertThat(exec.out()).isEmpty();
            assertThat(exec.err())
                    .hasLineCount(1)
                    .startsWith("holdfast: --store is missing")
                    .contains("--pass-store");
        }
    }

    private CliProcess exec(String name, List<String> command) {
        return CliProcess.start(args(redis, name, command.toArray(String[]::new)));
    }

    private static String[] args(RedisServer server, String name, String... command) {
        List<String> args = new ArrayList<>(List.of("exec", "--store", server.uri(), name, "--"));
        args.addAll(List.of(command));
        return args.toArray(String[]::new);
    }
}
