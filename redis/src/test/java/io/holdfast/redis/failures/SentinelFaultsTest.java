package io.holdfast.redis.failures;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.redis.failures.FaultServers.Run;
import io.holdfast.testkit.servers.RedisReplication;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** A master with two replicas and three Sentinels, of which the master fails while locks are held and contended. */
@Tag("deep")
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.redis.failures.FaultServers#few")
@Timeout(180)
class SentinelFaultsTest {

    /** Longer than a failover takes. */
    private static final Duration LEASE = Duration.ofSeconds(15);

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final Run run;

    SentinelFaultsTest(Run run) {
        this.run = run;
    }

    /**
     * In good order, then by a crash of the new master, and of the next one with the last writes: what it forgets is
     * lost loudly.
     */
    @Test
    void failsOver() throws Exception {
        try (RedisReplication all = RedisReplication.builder()
                .installation(run.installation())
                .sentinels()
                .downAfter(Duration.ofMillis(600))
                .start()) {
            crashed(all);
            crashedBeforeReplication(all);
        }
    }

    /** The replicas have what the master had, and the failover takes less than a lease: the lease continues. */
    private void crashed(RedisReplication all) throws Exception {
        try (UnderFault fault = new UnderFault(
                "Sentinel failover after replication", run, all.sentinelUri(), all.sentinelUri(), TIMEOUT, LEASE)) {
            RedisServer master = all.master();
            long began = System.nanoTime();
            master.kill();
            // Replication is asynchronous: what was written in the last moment can be lost.
            fault.overlapIsPossible();
            fault.measured("served again after", fault.awaitAllServed() - began);
            all.awaitMasterOtherThan(master);
            fault.assertStillHeld();
            fault.assertErrorsName("127.0.0.1");
            master.restart();
        }
    }

    /** The holds that no replica has are lost, loudly; tokens grow all the same. */
    private void crashedBeforeReplication(RedisReplication all) throws Exception {
        RedisServer master = all.master();
        all.cutReplication(true);
        try (UnderFault fault = new UnderFault(
                "Sentinel failover before replication", run, all.sentinelUri(), all.sentinelUri(), TIMEOUT, LEASE)) {
            long began = System.nanoTime();
            master.kill();
            fault.overlapIsPossible();
            fault.measured("served again after", fault.awaitAllServed() - began);
            fault.assertLost(began);
            Lease next = fault.assertNext(began);
            assertThat(next.isValid()).isTrue();
            next.release();
            fault.assertErrorsName("127.0.0.1");
        }
    }
}
