package io.holdfast.redis.failures;

import static io.holdfast.redis.failures.UnderFault.LEASE;
import static io.holdfast.redis.failures.UnderFault.PATIENCE;
import static io.holdfast.redis.failures.UnderFault.SHORT_LEASE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.redis.failures.FaultServers.Run;
import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Connections are killed, cut, half-closed, held up and slow. The client that holds has the bad one. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.redis.failures.FaultServers#few")
@Timeout(120)
class ConnectionFaultsTest {

    private static RedisServer server;

    private final Run run;
    private FaultProxy proxy;

    ConnectionFaultsTest(Run run) {
        this.run = run;
    }

    @BeforeParameterizedClassInvocation
    static void start(Run run) {
        server = RedisServer.builder().installation(run.installation()).start();
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() {
        server.command("FLUSHALL");
        proxy = FaultProxy.to(server.host(), server.port());
    }

    @AfterEach
    void close() {
        proxy.close();
    }

    @Test
    void connectionsKilled() throws Exception {
        for (String type : new String[] {"normal", "pubsub"}) {
            try (UnderFault fault = new UnderFault("CLIENT KILL TYPE " + type + ", 5 times", run, server.uri())) {
                long worst = 0;
                for (int i = 0; i < 5; i++) {
                    long began = System.nanoTime();
                    server.command("CLIENT", "KILL", "TYPE", type);
                    worst = Math.max(worst, fault.awaitAllServed() - began);
                }
                fault.measured("served again after at most", worst);
                fault.assertStillHeld();
                fault.assertErrorsName("cut the connection|not connected");
            }
        }
    }

    @Tag("deep")
    @Test
    void connectionsCut() throws Exception {
        try (UnderFault fault = new UnderFault("connections cut, 10 times", run, proxy.uri(), server.uri(), LEASE)) {
            long worst = 0;
            for (int i = 0; i < 10; i++) {
                long began = System.nanoTime();
                proxy.cutAll();
                worst = Math.max(worst, fault.awaitAllServed() - began);
            }
            fault.measured("served again after at most", worst);
            fault.assertStillHeld();
        }
    }

    /** Requests still arrive, and are executed; the client receives no answer. */
    @Tag("deep")
    @Test
    void connectionsHalfClosed() throws Exception {
        try (UnderFault fault =
                new UnderFault("connections half-closed, 5 times", run, proxy.uri(), server.uri(), LEASE)) {
            long worst = 0;
            for (int i = 0; i < 5; i++) {
                long began = System.nanoTime();
                proxy.halfClose();
                worst = Math.max(worst, fault.awaitAllServed() - began);
            }
            fault.measured("served again after at most", worst);
            fault.assertStillHeld();
        }
    }

    @Test
    void slow() throws Exception {
        try (UnderFault fault = new UnderFault("60 ms each way", run, proxy.uri(), server.uri(), LEASE)) {
            proxy.delay(Duration.ofMillis(60));
            fault.awaitAllServed();
            long began = System.nanoTime();
            fault.measured("each served once more after", fault.awaitAllServed() - began);
            fault.assertStillHeld();
            assertThat(fault.errors()).isEmpty();
            proxy.delay(Duration.ZERO);
        }
    }

    /** The client that holds is cut off: it knows by its own clock, and the other one gets the lock after that. */
    @Tag("deep")
    @Test
    void cutOff() throws Exception {
        try (UnderFault fault =
                new UnderFault("holder cut off for good", run, proxy.uri(), server.uri(), SHORT_LEASE)) {
            long began = System.nanoTime();
            proxy.refuse(true);
            proxy.cutAll();
            Lease next = fault.assertNext(began);
            fault.assertLost(began);
            next.release();
            proxy.refuse(false);
            fault.measured("served again after", fault.awaitAllServed() - began);
        }
    }

    /** Only answers are lost: its commands are executed. It must not continue as if it had received them. */
    @Test
    void answersLost() throws Exception {
        try (UnderFault fault = new UnderFault("holder hears nothing", run, proxy.uri(), server.uri(), SHORT_LEASE)) {
            long began = System.nanoTime();
            proxy.dropReplies(true);
            fault.assertLost(began);
            proxy.cutAll();
            proxy.dropReplies(false);
            fault.assertNext(began).release();
            fault.measured("served again after", fault.awaitAllServed() - began);
        }
    }

    /** The answer comes after the caller has left: nothing stays behind. */
    @Tag("deep")
    @Test
    void answerAfterTheCallerGaveUp() throws Exception {
        try (LockClient slow = UnderFault.client(proxy.uri(), LEASE);
                LockClient other = UnderFault.client(server.uri(), LEASE)) {
            // It withdraws when its time is over, so this is how long the lock can be seen to be taken.
            Duration wait = Duration.ofSeconds(2);
            proxy.holdReplies(true);
            CompletableFuture<Lease> acquiring = slow.acquireAsync(
                            "late", LockOptions.defaults().waitAtMost(wait))
                    .toCompletableFuture();
            await().atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(10))
                    .ignoreExceptions()
                    .until(() -> other.inspect("late").isLocked());
            await().atMost(PATIENCE).until(acquiring::isDone);
            assertThat(acquiring).isCompletedExceptionally();
            long began = System.nanoTime();
            proxy.holdReplies(false);
            Lease next = other.acquire("late", LockOptions.defaults().waitAtMost(PATIENCE));
            long millis = (System.nanoTime() - began) / 1_000_000;
            assertThat(millis).isLessThan(LEASE.toMillis() + 5_000);
            System.out.println("failures: " + run + ": answer to an acquire after the caller gave up: free again after "
                    + millis + " ms");
            next.release();
        }
    }

    /** The request itself comes late. */
    @Tag("deep")
    @Test
    void requestAfterTheCallerGaveUp() throws Exception {
        Duration timeout = Duration.ofSeconds(1);
        try (LockClient slow = UnderFault.client(proxy.uri(), timeout, LEASE);
                LockClient other = UnderFault.client(server.uri(), LEASE)) {
            proxy.holdRequests(true);
            CompletableFuture<Lease> acquiring = slow.acquireAsync(
                            "late", LockOptions.defaults().waitAtMost(Duration.ofMillis(300)))
                    .toCompletableFuture();
            await().atMost(PATIENCE).until(acquiring::isDone);
            assertThat(acquiring).isCompletedExceptionally();
            TimeUnit.MILLISECONDS.sleep(timeout.toMillis() + 200); // longer than the command may take
            proxy.holdRequests(false);
            await().during(Duration.ofMillis(300))
                    .atMost(PATIENCE)
                    .ignoreExceptions()
                    .until(() -> !other.inspect("late").isLocked());
        }
    }
}
