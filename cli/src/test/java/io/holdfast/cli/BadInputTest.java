package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.servers.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Bad input gets one clear line and an exit code that scripts can tell apart; the command is not run. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BadInputTest {

    private RedisServer redis;
    private String store;

    @BeforeAll
    void startServer() {
        redis = RedisServer.builder().password("right").start();
        store = redis.uri();
    }

    @AfterAll
    void stopServer() {
        redis.close();
    }

    @Test
    void emptyName() {
        assertRefused(64, "lock name: \"\" (expected: not blank", "exec", "--store", store, "", "--", "false");
    }

    @Test
    void blankName() {
        assertRefused(64, "lock name: \"  \" (expected: not blank", "exec", "--store", store, "  ", "--", "false");
    }

    @Test
    void longName() {
        assertRefused(64, "lock name: 2000 bytes", "exec", "--store", store, "x".repeat(2_000), "--", "false");
    }

    @Test
    void nameOfInspectAndRelease() {
        assertRefused(64, "lock name: \"\"", "inspect", "--store", store, "");
        assertRefused(64, "lock name: \"\"", "release", "--force", "--store", store, "");
    }

    /** In the locale C, as under cron, Java reads "ü" as two of these; "release" would say that nobody held that. */
    @Test
    void nameThatIsNoTextInTheLocale() {
        String name = "schl\ufffd\ufffdssel";
        String locale = "not text in this locale (expected: a locale that fits it, such as LC_ALL=C.UTF-8)";
        assertRefused(64, locale, "inspect", "--store", store, name);
        assertRefused(64, locale, "release", "--force", "--store", store, name);
        assertRefused(64, locale, "exec", "--store", store, name, "--", "false");
    }

    @Test
    void portOfTheConsole() throws IOException {
        assertRefused(64, "--port: 70000 (expected: at most 65535)", "console", "--store", store, "--port", "70000");
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());
            assertRefused(
                    64,
                    "--port: " + port + " cannot be used on 127.0.0.1: Address already in use",
                    "console",
                    "--store",
                    "memory:console",
                    "--port",
                    port);
        }
    }

    @Test
    void leaseOfZero() {
        assertRefused(
                64, "--lease: 0 ms (expected: at least", "exec", "--store", store, "--lease", "0", "n", "--", "false");
    }

    @Test
    void leaseTooShortToRenew() {
        assertRefused(64, "--lease: 50 ms (expected: at least", "exec", "--lease", "50ms", "n", "--", "false");
    }

    @Test
    void malformedTimes() {
        for (String option : new String[] {"--lease", "--wait", "--kill-after"}) {
            assertRefused(
                    64,
                    option + ": 5x (expected: seconds, or a number with a unit",
                    "exec",
                    option,
                    "5x",
                    "n",
                    "--",
                    "false");
        }
    }

    @Test
    void timeToStopOfALeader() {
        for (String time : new String[] {"0", "8s"}) {
            assertRefused(
                    64,
                    " (expected: more than zero, and at most 7500ms, a quarter of --lease)",
                    "leader",
                    "--stop-within",
                    time,
                    "n",
                    "--",
                    "false");
        }
        assertRefused(64, "--lease: 50 ms (expected: at least", "leader", "--lease", "50ms", "n", "--", "false");
    }

    @Test
    void nameOfALeadership() {
        assertRefused(64, "lock name: \"\" (expected: not blank", "leader", "--store", store, "", "--", "false");
        assertRefused(64, "lock name: 1027 bytes", "leader", "--store", store, "x".repeat(1_020), "--", "false");
        assertRefused(64, "the command must follow two dashes (expected: holdfast leader ", "leader", "n", "false");
    }

    @Test
    void negativeWait() {
        assertRefused(64, "--wait: -5s (expected: ", "exec", "--wait=-5s", "n", "--", "false");
    }

    @Test
    void waitAndNoWait() {
        assertRefused(64, "-n and --wait exclude each other", "exec", "-n", "--wait", "5", "n", "--", "false");
    }

    @Test
    void unknownScheme() {
        assertRefused(
                64,
                "store URI scheme: \"carrier-pigeon\"",
                "exec",
                "--store",
                "carrier-pigeon://x",
                "n",
                "--",
                "false");
    }

    @Test
    void malformedUri() {
        assertRefused(64, "store URI", "exec", "--store", "redis://a b", "n", "--", "false");
        assertRefused(64, "has no scheme", "exec", "--store", "127.0.0.1", "n", "--", "false");
    }

    @Test
    void wrongPassword() {
        String wrong = "redis://:secret-guess@127.0.0.1:" + redis.port();
        String err = assertRefused(69, "", "exec", "--store", wrong, "n", "--", "false");
        assertThat(err).contains("password").doesNotContain("secret-guess");
    }

    @Test
    void missingPassword() {
        String err = assertRefused(69, "", "exec", "--store", "redis://127.0.0.1:" + redis.port(), "n", "--", "false");
        assertThat(err).contains("password");
    }

    @Test
    void serverNotThere() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        String err = assertRefused(69, "", "exec", "--store", "redis://127.0.0.1:" + port, "n", "--", "false");
        assertThat(err).contains("127.0.0.1:" + port);
        assertRefused(69, "", "inspect", "--store", "redis://127.0.0.1:" + port, "n");
    }

    @Test
    void commandThatDoesNotExist() {
        assertRefused(127, "no-such-command: command not found", "exec", "n", "--", "no-such-command");
        assertRefused(127, "/no/such/command: command not found", "exec", "n", "--", "/no/such/command");
        assertRefused(127, ": command not found", "exec", "n", "--", "");
    }

    @Test
    void commandThatCannotBeExecuted() {
        assertRefused(126, "/etc/passwd: permission denied", "exec", "n", "--", "/etc/passwd");
        assertRefused(126, "/etc: is a directory", "exec", "n", "--", "/etc");
    }

    @Test
    void missingDashes() {
        assertRefused(64, "the command must follow two dashes", "exec", "n", "false");
        assertRefused(64, "the command must follow two dashes", "exec", "n", "echo", "--", "x");
    }

    @Test
    void missingCommand() {
        assertRefused(64, "Missing required parameter: 'COMMAND'", "exec", "n", "--");
        assertRefused(64, "a command is missing (see: holdfast --help)");
    }

    @Test
    void unknownCommandAndOption() {
        assertRefused(
                64,
                "frobnicate: no such command"
                        + " (expected: one of exec, help, console, doctor, inspect, leader, ls, release, top, watch)",
                "frobnicate",
                "n");
        assertRefused(
                64, "Unknown option: '--bogus' (see: holdfast exec --help)", "exec", "--bogus", "n", "--", "false");
    }

    @Test
    void mistypedCommandAndOption() {
        assertRefused(64, "exce: no such command (did you mean exec?) (see: holdfast --help)", "exce", "n");
        assertRefused(64, "lss: no such command (did you mean ls?)", "lss");
        assertRefused(64, "inpsect: no such command (did you mean inspect?)", "help", "inpsect");
        assertRefused(
                64,
                "Unknown option: '--wiat', did you mean --wait? (see: holdfast exec --help)",
                "exec",
                "--wiat",
                "5s",
                "n",
                "--",
                "false");
        assertRefused(64, "'--wiat=5s', did you mean --wait?", "exec", "--wiat=5s", "n", "--", "false");
        assertRefused(64, "'--stroe', did you mean --store?", "ls", "--stroe", "memory:x");
    }

    @Test
    void aStoreThatExcludesNoOtherCommand() {
        for (String within : new String[] {"memory:x", "jdbc:h2:mem:x;PASSWORD=s3cret"}) {
            String refusal = "--store: " + within.replace(";PASSWORD=s3cret", "")
                    + " is within this process, so its locks exclude no other one";
            assertRefused(64, refusal, "exec", "--store", within, "n", "--", "false");
            assertRefused(64, refusal, "leader", "--store", within, "n", "--", "false");
        }
    }

    @Test
    void releaseWithoutATerminalToAskOn() {
        assertRefused(64, "there is no terminal to ask on (expected: --yes)", "release", "n");
    }

    @Test
    void debugShowsWhere() {
        InProcess result = InProcess.run("exec", "--debug", "n", "--", "no-such-command");
        assertThat(result.exitCode()).isEqualTo(127);
        assertThat(result.errLines().get(0)).isEqualTo("holdfast: no-such-command: command not found");
        assertThat(result.err()).contains("\tat io.holdfast.cli.commands.ExecCommand");
    }

    /** @return the line */
    private static String assertRefused(int exitCode, String message, String... args) {
        InProcess result = InProcess.run(args);
        assertThat(result.errLines()).as("%s", result.err()).hasSize(1);
        assertThat(result.errLines().get(0))
                .startsWith("holdfast: ")
                .contains(message)
                .doesNotContain("Exception");
        assertThat(result.out()).doesNotContain("\tat ");
        assertThat(result.exitCode()).isEqualTo(exitCode);
        return result.err();
    }
}
