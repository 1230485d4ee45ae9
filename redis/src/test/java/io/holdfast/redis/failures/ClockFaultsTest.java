package io.holdfast.redis.failures;

import static io.holdfast.redis.failures.UnderFault.SHORT_LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.failures.FaultServers.Run;
import io.holdfast.testkit.servers.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Somebody sets the server's wall clock, by which it expires keys, while locks are held and contended. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.redis.failures.FaultServers#few")
@Timeout(120)
class ClockFaultsTest {

    private static final Duration HOUR = Duration.ofHours(1);

    private final Run run;

    @TempDir
    Path dir;

    ClockFaultsTest(Run run) {
        this.run = run;
    }

    /** All holds expire at once, as far as the server knows. */
    @Test
    void jumpsForward() throws Exception {
        ServerWallClock clock = ServerWallClock.compile(dir);
        try (RedisServer server = clock.start(run.installation());
                UnderFault fault = new UnderFault("server clock an hour forward", run, server.uri(), SHORT_LEASE)) {
            long began = System.nanoTime();
            fault.overlapIsPossible();
            clock.jump(HOUR);
            fault.measured("served again after", fault.awaitAllServed() - began);
            fault.assertLost(began);
            fault.assertNext(began).release();
        }
    }

    /** Nothing expires for an hour: nothing is lost, and tokens still grow. */
    @Test
    void jumpsBack() throws Exception {
        ServerWallClock clock = ServerWallClock.compile(dir);
        try (RedisServer server = clock.start(run.installation());
                UnderFault fault = new UnderFault("server clock an hour back", run, server.uri())) {
            long began = System.nanoTime();
            clock.jump(HOUR.negated());
            fault.measured("served again after", fault.awaitAllServed() - began);
            fault.assertStillHeld();
            assertThat(fault.errors()).isEmpty();
            fault.held().release();
            fault.assertNext(began).release();
        }
    }

    /** The same as a jump forward, for one lock: also where no clock can be set. */
    @Test
    void oneHoldExpiresEarly() throws Exception {
        try (RedisServer server =
                        RedisServer.builder().installation(run.installation()).start();
                UnderFault fault = new UnderFault("a hold expires early", run, server.uri(), SHORT_LEASE)) {
            long began = System.nanoTime();
            fault.overlapIsPossible();
            server.command("PEXPIRE", UnderFault.HELD, "1");
            fault.assertLost(began);
            fault.assertNext(began).release();
            fault.measured("served again after", fault.awaitAllServed() - began);
        }
    }
}
