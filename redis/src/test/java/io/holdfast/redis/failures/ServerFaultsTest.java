package io.holdfast.redis.failures;

import static io.holdfast.redis.failures.UnderFault.LEASE;
import static io.holdfast.redis.failures.UnderFault.PATIENCE;
import static io.holdfast.redis.failures.UnderFault.SHORT_HARM_MILLIS;
import static io.holdfast.redis.failures.UnderFault.SHORT_LEASE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.redis.failures.FaultServers.Run;
import io.holdfast.testkit.servers.RedisServer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The server's process is killed, stopped, or starting. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.redis.failures.FaultServers#all")
@Timeout(120)
class ServerFaultsTest {

    private static final String[] LOGGED = {"--appendonly", "yes", "--appendfsync", "always"};

    private final Run run;

    ServerFaultsTest(Run run) {
        this.run = run;
    }

    /** What it forgets is lost loudly; tokens grow all the same. */
    @Test
    void killedWithoutALog() throws Exception {
        try (RedisServer server = start();
                UnderFault fault = new UnderFault("SIGKILL without AOF", run, server.uri(), SHORT_LEASE)) {
            long began = System.nanoTime();
            server.kill();
            fault.overlapIsPossible();
            server.restart();
            fault.measured("served again after", fault.awaitAllServed() - began);
            fault.assertLost(began);
            fault.assertNext(began).release();
            fault.assertErrorsName("127.0.0.1:" + server.port());
        }
    }

    @Test
    void killedWithALog() throws Exception {
        try (RedisServer server = start(LOGGED);
                UnderFault fault = new UnderFault("SIGKILL with AOF", run, server.uri())) {
            long began = System.nanoTime();
            server.kill();
            server.restart();
            fault.measured("served again after", fault.awaitAllServed() - began);
            if (System.nanoTime() - began < LEASE.toNanos() / 3) {
                fault.assertStillHeld();
            }
            fault.assertErrorsName("127.0.0.1:" + server.port());
        }
    }

    @Tag("deep")
    @Test
    void stoppedForLessThanALease() throws Exception {
        try (RedisServer server = start();
                UnderFault fault = new UnderFault("SIGSTOP for " + SHORT_HARM_MILLIS + " ms", run, server.uri())) {
            long began = System.nanoTime();
            server.pause();
            TimeUnit.MILLISECONDS.sleep(SHORT_HARM_MILLIS);
            server.resume();
            fault.measured("served again after", fault.awaitAllServed() - began);
            fault.assertStillHeld();
        }
    }

    @Test
    @Tag("deep") // quick: LockClientTest with a server that stops answering
    void stoppedForMoreThanALease() throws Exception {
        try (RedisServer server = start();
                UnderFault fault = new UnderFault("SIGSTOP for 1.5 leases", run, server.uri(), SHORT_LEASE)) {
            long began = System.nanoTime();
            server.pause();
            TimeUnit.MILLISECONDS.sleep(3 * SHORT_LEASE.toMillis() / 2);
            // By the local clock, long since.
            assertThat(fault.held().isValid()).isFalse();
            server.resume();
            fault.measured("served again after", fault.awaitAllServed() - began);
            fault.assertLost(began);
            fault.assertNext(began).release();
            fault.assertErrorsName("127.0.0.1:" + server.port());
        }
    }

    /** Much data to load: it answers LOADING for longer than clients wait before they connect again. */
    @Tag("deep")
    @Test
    void slowToStart() throws Exception {
        try (RedisServer server = start(
                "--appendonly",
                "yes",
                "--appendfsync",
                "always",
                "--key-load-delay",
                "800",
                "--rdbcompression",
                "no")) {
            // While it loads it looks up only now and then, after megabytes.
            server.command("DEBUG", "POPULATE", "3000", "filler", "5000");
            server.command("BGREWRITEAOF");
            await().atMost(PATIENCE)
                    .until(() -> String.valueOf(server.command("INFO", "persistence"))
                            .contains("aof_rewrite_in_progress:0\r\n"));
            try (UnderFault fault = new UnderFault("LOADING after a restart", run, server.uri())) {
                long began = System.nanoTime();
                server.kill();
                CompletableFuture<Void> restarting = CompletableFuture.runAsync(server::restart);
                String said = null;
                while (!restarting.isDone()) {
                    try {
                        fault.second().inspect(UnderFault.HELD);
                    } catch (RuntimeException e) {
                        said = String.valueOf(e.getMessage()).contains("LOADING") ? e.getMessage() : said;
                        TimeUnit.MILLISECONDS.sleep(5);
                    }
                }
                restarting.join();
                fault.measured("served again after", fault.awaitAllServed() - began);
                assertThat(said).contains("it has just started; wait");
                fault.assertErrorsName("127.0.0.1:" + server.port());
            }
        }
    }

    private RedisServer start(String... args) {
        return RedisServer.builder().installation(run.installation()).args(args).start();
    }
}
