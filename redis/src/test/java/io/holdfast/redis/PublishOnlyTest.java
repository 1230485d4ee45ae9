package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.spi.HolderId;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A user of the server that may read and write no key, and may only publish, can neither grant a lock nor end a hold.
 */
@Timeout(60)
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.testkit.servers.RedisServer#available")
class PublishOnlyTest {

    private static final long OWN_TOKEN_BASE = 1L << 48;

    private final Installation installation;
    private RedisServer server;
    private LockClient holding;
    private LockClient waiting;
    private RedisClient driver;
    private RedisCommands<String, String> publisher;

    PublishOnlyTest(Installation installation) {
        this.installation = installation;
    }

    @BeforeEach
    void start() {
        assumeThat(installation.isAtLeast(6, 2)).isTrue();
        server = RedisServer.builder().installation(installation).start();
        server.command(
                "ACL", "SETUSER", "pub", "on", ">pw", "resetkeys", "allchannels", "-@all", "+publish", "+pubsub");
        holding = LockClient.connect(server.uri());
        waiting = LockClient.connect(server.uri());
        driver = RedisClient.create(server.uri().replace("://", "://pub:pw@"));
        publisher = driver.connect().sync();
    }

    @AfterEach
    void stop() {
        if (server != null) {
            driver.shutdown(0, 1, TimeUnit.SECONDS);
            waiting.close();
            holding.close();
            server.close();
        }
    }

    /** Returns the channel of the client that waits: the one that is not of the holder's client. */
    private String channel() {
        String holder = holding.inspect("n").holder().orElseThrow();
        List<String> others = publisher.pubsubChannels("holdfast:c:*").stream()
                .filter(channel -> !channel.endsWith(HolderId.client(holder)))
                .toList();
        assertThat(others).hasSize(1);
        return others.get(0);
    }

    private void assertReadsNoKey() {
        assertThat(failure(() -> publisher.get("lock:n"))).contains("NOPERM");
    }

    private static @Nullable String failure(Runnable command) {
        try {
            command.run();
            return null;
        } catch (RedisCommandExecutionException e) {
            return e.getMessage();
        }
    }

    @Test
    void does_not_grant_a_lock_that_is_held() throws Exception {
        Lease held = holding.acquire("n");
        CompletableFuture<Lease> wait = waiting.acquireAsync(
                        "n", LockOptions.defaults().waitAtMost(Duration.ofSeconds(30)))
                .toCompletableFuture();
        String channel = channel();
        String client = channel.substring(channel.lastIndexOf(':') + 1);
        assertReadsNoKey();

        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(2_500);
        while (System.nanoTime() - end < 0 && !wait.isDone()) {
            for (int acquisition = 1; acquisition <= 2; acquisition++) {
                for (long number : new long[] {0, 1, 2, 3, 4, -1, 999_999_999_999_999L, Long.MAX_VALUE}) {
                    publisher.publish(
                            channel,
                            "g " + HolderId.of(client, acquisition) + " " + OWN_TOKEN_BASE + " 0 30000 " + number
                                    + " 0 lock:n");
                }
            }
        }
        System.out.println(installation + ": A.isValid()=" + held.isValid() + ", B has a lease: " + wait.isDone()
                + (wait.isDone() ? " with token " + wait.join().fencingToken() : ""));
        assertThat(wait).as("two holders").isNotDone();
        assertThat(held.isValid()).isTrue();

        // The genuine grant still arrives.
        held.release();
        Lease next = wait.orTimeout(10, TimeUnit.SECONDS).join();
        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken()).isLessThan(OWN_TOKEN_BASE << 14);
        next.release();
    }

    @Test
    void does_not_end_a_hold_through_another_client() throws Exception {
        Lease held = holding.acquire("n");
        // A client that has a channel, and has made the same numbers of acquisitions.
        Lease other = holding.acquire("m");
        CompletableFuture<Lease> wait = waiting.acquireAsync("m").toCompletableFuture();
        String channel = channel();
        String holder = holding.inspect("n").holder().orElseThrow();

        publisher.publish(channel, "g " + holder + " " + OWN_TOKEN_BASE + " 0 30000 0 0 lock:n");
        other.release();
        // Comes after the forged message, on the same channel.
        wait.get(10, TimeUnit.SECONDS).release();
        waiting.tryAcquire("n", Duration.ZERO).ifPresent(stolen -> {
            throw new AssertionError("two holders: " + held.isValid() + ", " + stolen.isValid());
        });
        assertThat(holding.inspect("n").holder()).contains(holder);
        held.release();
    }
}
