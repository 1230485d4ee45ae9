package io.holdfast.redis.server;

import static io.holdfast.spi.StoreException.Outcome.FATAL;
import static io.holdfast.spi.StoreException.Outcome.NOT_EXECUTED;
import static io.holdfast.spi.StoreException.Outcome.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a failed command is said to have done, by the driver's exceptions. */
public class RedisErrorsTest {

    private static final RedisErrors ERRORS = new RedisErrors("redis://h:6379/0", Duration.ofMillis(2_500));

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "LOADING Redis is loading the dataset in memory | NOT_EXECUTED",
                "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE. | NOT_EXECUTED",
                "TRYAGAIN Multiple keys request during rehashing of slot | NOT_EXECUTED",
                "READONLY You can't write against a read only replica. script: 1, on @user_script:1. | NOT_EXECUTED",
                "ERR Error running script (call to f_1): @user_script:9: @user_script: 9: -OOM command not allowed when used memory > 'maxmemory'. | NOT_EXECUTED",
                "NOREPLICAS Not enough good replicas to write. | NOT_EXECUTED",
                "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'. | NOT_EXECUTED",
                "CLUSTERDOWN Hash slot not served | NOT_EXECUTED",
                "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. | NOT_EXECUTED",
                "ERR max number of clients reached | NOT_EXECUTED",
                "no upstream host | NOT_EXECUTED",
                "upstream failure | UNKNOWN",
                "NOPERM User app has no permissions to run the 'pexpire' command script: 5fa, on @user_script:87. | UNKNOWN",
                "WRONGTYPE Operation against a key holding the wrong kind of value script: 5fa, on @user_script:87. | UNKNOWN",
                "ERR Error running script (call to f_5fa): @user_script:87: @user_script: 87: Unknown Redis command called from Lua script | UNKNOWN",
                "ERR unknown command 'PEXPIRE' script: 5fa, on @user_script:87. | UNKNOWN",
                "OOM command not allowed when used memory > 'maxmemory'. script: 5fa, on @user_script:87. | NOT_EXECUTED",
                "NOAUTH Authentication required. | FATAL",
                "WRONGPASS invalid username-password pair or user is disabled. | FATAL",
                "NOPERM this user has no permissions to run the 'evalsha' command or its subcommand | FATAL",
                "NOPERM No permissions to access the 'OOM BUSY' key | FATAL",
                "WRONGTYPE Operation against a key holding the wrong kind of value | FATAL",
                "ERR unknown command 'EVALSHA' | FATAL",
                "ERR no such thing as BUSYNESS or a LOADINGDOCK | FATAL",
            })
    void refusalsAreToldApart(String said, StoreException.Outcome outcome) {
        StoreException error = ERRORS.of(new RedisCommandExecutionException(said));
        assertThat(error.outcome()).isEqualTo(outcome);
        assertThat(error).hasMessageStartingWith("redis://h:6379/0 refused: ");
    }

    @Test
    void aWrappedRefusalIsShownWithoutItsWrapping() {
        assertThat(ERRORS.of(
                        new RedisCommandExecutionException("ERR Error running script (call to f_1): @user_script:9:"
                                + " @user_script: 9: -OOM command not allowed when used memory > 'maxmemory'.")))
                .hasMessage("redis://h:6379/0 refused: OOM command not allowed when used memory > 'maxmemory'."
                        + " (raise its maxmemory, or remove keys)");
    }

    /** Of 5.0, 7.0, 8.0, Valkey and a script before 7.0; some are in a script. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ERR unknown command `DEL`, with args beginning with: `x`, ",
                "ERR unknown command 'DEL', with args beginning with: 'x' ",
                "ERR Unknown Redis command called from script script: 9510b, on @user_script:1.",
                "ERR Unknown command called from script script: on @user_script:1.",
                "ERR Error running script (call to f_5fa): @user_script:87: @user_script: 87: Unknown Redis command called from Lua script",
            })
    void forACommandThatTheServerDoesNotHaveNoRightIsAdvised(String said) {
        assertThat(ERRORS.of(new RedisCommandExecutionException(said)))
                .hasMessage(
                        "redis://h:6379/0 refused: " + said + " (see rename-command in the server's configuration)");
    }

    @Test
    void theNameOfAKeyIsNoUnknownCommand() {
        assertThat(RedisErrors.isUnknownCommand("NOPERM No permissions to access the 'unknown command' key"))
                .isFalse();
        assertThat(RedisErrors.isUnknownCommand("NOPERM No permissions to access the 'lock:1: unknown command' key"))
                .isFalse();
    }

    @Test
    void theDriversExceptionsAreToldApart() {
        StoreException timeout = ERRORS.of(new CompletionException(new RedisCommandTimeoutException("too long")));
        assertThat(timeout).hasMessage("redis://h:6379/0 did not answer within 2.5 s");
        assertThat(timeout.outcome()).isEqualTo(UNKNOWN);
        assertThat(outcome(new RedisException("Connection disconnected"))).isEqualTo(UNKNOWN);
        assertThat(outcome(new RedisException("Connection closed"))).isEqualTo(UNKNOWN);
        assertThat(outcome(new IOException("Connection reset by peer"))).isEqualTo(UNKNOWN);
        assertThat(outcome(new CancellationException())).isEqualTo(UNKNOWN);
        assertThat(outcome(new ClassCastException("not a list"))).isEqualTo(UNKNOWN);
        assertThat(outcome(new RedisException("Currently not connected. Commands are rejected.")))
                .isEqualTo(NOT_EXECUTED);
        assertThat(outcome(new RedisException("Connection is closed"))).isEqualTo(NOT_EXECUTED);
    }

    @ParameterizedTest
    @CsvSource({"MOVED 3999 127.0.0.1:6381", "ASK 3999 127.0.0.1:6381"})
    void aRedirectionPassesInAClusterAlone(String said) {
        assertThat(inCluster(said)).isEqualTo(NOT_EXECUTED);
        assertThat(outcome(new RedisCommandExecutionException(said))).isEqualTo(FATAL);
    }

    /** What the script wrote before stays, so no code makes these count as not executed; before 7.0 and since. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ERR Error running script (call to f_5fa): @user_script:87: @user_script: 87: The user executing the script can't run this command or subcommand",
                "ERR Error running script (call to f_5fa): @user_script:87: @user_script: 87: -NOPERM this user has no permissions to run the 'pexpire' command",
                "ERR Error running script (call to f_5fa): @user_script:87: @user_script: 87: Script attempted to access a non local key in a cluster node",
                "ERR Error running script (call to f_5fa): @user_script:87: @user_script: 87: -MOVED 3999 127.0.0.1:6381",
                "ERR Error running script (call to f_5fa): @user_script:87: @user_script: 87: -ASK 3999 127.0.0.1:6381",
                "ERR Error running script (call to f_5fa): @user_script:87: @user_script: 87: -TRYAGAIN Multiple keys request during rehashing of slot",
                "ERR The user executing the script can't run this command or subcommand script: 5fa, on @user_script:87.",
                "ERR Script attempted to access a non local key in a cluster node script: 5fa, on @user_script:87.",
                "NOPERM ACL failure in script: User app has no permissions to run the 'pexpire' command script: 5fa, on @user_script:87.",
                "MOVED 3999 127.0.0.1:6381 script: 5fa, on @user_script:87.",
                "ASK 3999 127.0.0.1:6381 script: 5fa, on @user_script:87.",
                "CLUSTERDOWN Hash slot not served script: 5fa, on @user_script:87.",
            })
    void anErrorInTheMiddleOfAScriptLeavesItsOutcomeUnknown(String said) {
        assertThat(outcome(new RedisCommandExecutionException(said))).isEqualTo(UNKNOWN);
        assertThat(inCluster(said)).isEqualTo(UNKNOWN);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ERR unknown command 'DELEX', with args beginning with: 'lock:ASK me' 'IFEQ' 'MOVED 1'",
                "ERR running the script failed at line 87: ASK 3999 127.0.0.1:6381",
            })
    void aRedirectionIsOneOnlyAtTheStart(String said) {
        assertThat(inCluster(said)).isNotEqualTo(NOT_EXECUTED);
    }

    private static StoreException.Outcome inCluster(String said) {
        RedisErrors cluster = new RedisErrors("redis-cluster://h:6379", Duration.ofSeconds(1), true);
        return cluster.of(new RedisCommandExecutionException(said)).outcome();
    }

    private static StoreException.Outcome outcome(Throwable error) {
        return ERRORS.of(error).outcome();
    }
}
