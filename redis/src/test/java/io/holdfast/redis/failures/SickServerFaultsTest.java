package io.holdfast.redis.failures;

import static io.holdfast.redis.failures.UnderFault.PATIENCE;
import static io.holdfast.redis.failures.UnderFault.SHORT_HARM_MILLIS;
import static io.holdfast.redis.failures.UnderFault.SHORT_LEASE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.redis.failures.FaultServers.Run;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The server answers, but not as one would like; or somebody does harm to its data. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.redis.failures.FaultServers#all")
@Timeout(120)
class SickServerFaultsTest {

    private static RedisServer server;

    private final Run run;

    SickServerFaultsTest(Run run) {
        this.run = run;
    }

    @BeforeParameterizedClassInvocation
    static void start(Run run) {
        server = RedisServer.builder()
                .installation(run.installation())
                .args("--lua-time-limit", "50")
                .start();
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        server.close();
    }

    /** Between any two calls: nobody notices. */
    @Tag("deep")
    @Test
    void scriptsForgotten() throws Exception {
        try (UnderFault fault = under("SCRIPT FLUSH all the time")) {
            for (int i = 0; i < 200; i++) {
                server.command("SCRIPT", "FLUSH");
            }
            fault.awaitAllServed();
            fault.assertStillHeld();
            assertThat(fault.errors()).isEmpty();
        }
    }

    @Tag("deep")
    @Test
    void commandsPaused() throws Exception {
        try (UnderFault fault = under("CLIENT PAUSE for " + SHORT_HARM_MILLIS + " ms")) {
            long began = System.nanoTime();
            server.command("CLIENT", "PAUSE", String.valueOf(SHORT_HARM_MILLIS));
            fault.measured("served again after", fault.awaitAllServed() - began);
            fault.assertStillHeld();
            assertThat(fault.errors()).isEmpty();
        }
    }

    @Tag("deep")
    @Test
    void busyWithAScript() throws Exception {
        try (UnderFault fault = under("BUSY for " + SHORT_HARM_MILLIS + " ms")) {
            long began = System.nanoTime();
            var endless = CompletableFuture.runAsync(() -> {
                try {
                    server.command("EVAL", "while true do end", "0");
                } catch (RuntimeException e) {
                    // Killed below.
                }
            });
            TimeUnit.MILLISECONDS.sleep(SHORT_HARM_MILLIS);
            await().atMost(PATIENCE).ignoreExceptions().until(() -> server.command("SCRIPT", "KILL") != null);
            endless.join();
            fault.measured("served again after", fault.awaitAllServed() - began);
            fault.assertStillHeld();
            fault.assertErrorsName("BUSY");
        }
    }

    /** What is held is renewed and can be released for as long as it takes; new locks are refused with the reason. */
    @Tag("deep")
    @Test
    void outOfMemory() throws Exception {
        Duration lease = Duration.ofSeconds(3);
        try (UnderFault fault = under("OOM with noeviction for longer than a lease", lease)) {
            server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
            server.command("CONFIG", "SET", "maxmemory", "1");
            long full = System.nanoTime();
            while (System.nanoTime() - full < lease.plusMillis(500).toNanos()) {
                // Passed on or free (−2), but never kept without an expiry: that is not a lock which ends with its
                // holder.
                assertThat(server.command("PTTL", UnderFault.CONTENDED)).isNotEqualTo(-1L);
                TimeUnit.MILLISECONDS.sleep(2);
            }
            fault.assertStillHeld();
            assertThat(fault.errors()).isNotEmpty();
            long began = System.nanoTime();
            server.command("CONFIG", "SET", "maxmemory", "0");
            fault.measured("served again after", fault.awaitAllServed() - began);
            fault.assertErrorsName("OOM.*maxmemory");
            fault.assertStillHeld();
        } finally {
            server.command("CONFIG", "SET", "maxmemory", "0");
        }
    }

    @Tag("deep")
    @Test
    void evicted() throws Exception {
        try (UnderFault fault = under("eviction of the lock key", SHORT_LEASE)) {
            server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-random");
            long began = System.nanoTime();
            server.command("CONFIG", "SET", "maxmemory", "1");
            await().atMost(PATIENCE)
                    .until(() -> server.command("EXISTS", UnderFault.HELD).equals(0L));
            server.command("CONFIG", "SET", "maxmemory", "0");
            fault.overlapIsPossible();
            fault.assertLost(began);
            fault.assertNext(began).release();
            fault.measured("served again after", fault.awaitAllServed() - began);
        } finally {
            server.command("CONFIG", "SET", "maxmemory", "0");
            server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
        }
    }

    @Test
    void demotedAndPromoted() throws Exception {
        try (UnderFault fault = under("READONLY for " + SHORT_HARM_MILLIS + " ms")) {
            long began = System.nanoTime();
            // Of nobody: its data stays.
            server.command("REPLICAOF", "127.0.0.1", "1");
            TimeUnit.MILLISECONDS.sleep(SHORT_HARM_MILLIS);
            server.command("REPLICAOF", "NO", "ONE");
            fault.measured("served again after", fault.awaitAllServed() - began);
            fault.assertStillHeld();
            fault.assertErrorsName("READONLY|connect|cut");
        } finally {
            server.command("REPLICAOF", "NO", "ONE");
        }
    }

    @Tag("deep")
    @Test
    void demotedForGood() throws Exception {
        try (UnderFault fault = under("READONLY for 1.5 leases", SHORT_LEASE)) {
            long began = System.nanoTime();
            server.command("REPLICAOF", "127.0.0.1", "1");
            TimeUnit.MILLISECONDS.sleep(3 * SHORT_LEASE.toMillis() / 2);
            fault.assertLost(began);
            server.command("REPLICAOF", "NO", "ONE");
            fault.assertNext(began).release();
            fault.measured("served again after", fault.awaitAllServed() - began);
            fault.assertErrorsName("READONLY|connect|cut");
            assertThat(fault.errors()).anyMatch(error -> error.contains("connect to the master"));
        } finally {
            server.command("REPLICAOF", "NO", "ONE");
        }
    }

    @Test
    void everythingDeleted() throws Exception {
        try (UnderFault fault = under("FLUSHALL", SHORT_LEASE)) {
            long began = System.nanoTime();
            server.command("FLUSHALL");
            fault.overlapIsPossible();
            fault.assertLost(began);
            fault.assertNext(began).release();
            fault.awaitAllServed();
            assertThat(fault.errors()).isEmpty();
        }
    }

    @Tag("deep")
    @Test
    void releasedByForce() throws Exception {
        try (UnderFault fault = under("forceRelease", SHORT_LEASE)) {
            long began = System.nanoTime();
            assertThat(fault.second().forceRelease(UnderFault.HELD)).isTrue();
            fault.overlapIsPossible();
            fault.assertNext(began).release();
            fault.assertLost(began);
            assertThat(fault.errors()).isEmpty();
        }
    }

    private UnderFault under(String scenario) throws InterruptedException {
        return new UnderFault(scenario, run, server.uri());
    }

    private UnderFault under(String scenario, Duration lease) throws InterruptedException {
        return new UnderFault(scenario, run, server.uri(), lease);
    }
}
