package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.testkit.faults.FaultProxy;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.h2.tools.Server;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * H2's driver connects by itself, and sends a command again whose answer was lost: with AUTO_SERVER when the process
 * ends that serves the file.
 */
class SentAgainTest {

    private static final String NAME = "again";

    private Server server;
    private FaultProxy proxy;
    private LockClient near;
    private LockClient far;

    @BeforeEach
    void start() throws Exception {
        server = Server.createTcpServer("-tcpPort", "0").start();
        proxy = FaultProxy.to("127.0.0.1", server.getPort());
        String database = "mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;createTable=true";
        near = LockClient.connect("jdbc:h2:" + database);
        far = LockClient.connect("jdbc:h2:tcp://127.0.0.1:" + proxy.port() + "/" + database + ";AUTO_RECONNECT=TRUE");
    }

    @AfterEach
    void stop() {
        far.close();
        near.close();
        proxy.close();
        server.stop();
    }

    @Test
    void aReleaseIsNoLoss() throws Exception {
        Lease lease = far.acquire(NAME);
        proxy.holdReplies(true);
        CompletableFuture<Void> released = CompletableFuture.runAsync(lease::release);
        loseTheAnswerOf(() -> !near.inspect(NAME).isLocked());
        released.get(30, TimeUnit.SECONDS);
        near.tryAcquire(NAME, Duration.ofSeconds(20)).orElseThrow().release();
    }

    /** A driver that waited without end kept all callers waiting, too. */
    @Test
    void aServerThatDoesNotAnswerFailsACommand() throws Exception {
        far.acquire(NAME).release();
        proxy.holdReplies(true);
        CompletableFuture<Optional<Lease>> tried = CompletableFuture.supplyAsync(() -> far.tryAcquire(NAME));
        assertThatThrownBy(() -> tried.get(40, TimeUnit.SECONDS)).hasCauseInstanceOf(LockStoreException.class);
        proxy.holdReplies(false);
    }

    /** Delivers each reply but that of the statement after which the condition is true; this one ends the connection. */
    private void loseTheAnswerOf(Callable<Boolean> condition) {
        await().pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(20))
                .atMost(Duration.ofSeconds(30))
                .until(() -> {
                    boolean executed = condition.call();
                    if (!executed && proxy.pendingReplyBytes() > 0) {
                        proxy.holdReplies(false);
                        proxy.holdReplies(true);
                    }
                    return executed;
                });
        proxy.halfClose();
        // Until the driver has seen that end, an answer that is let go might still reach it.
        await().pollDelay(Duration.ofMillis(200)).until(() -> true);
        proxy.holdReplies(false);
    }
}
