package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The end of a session gives its locks to others, so a closed client keeps it while work under its locks goes on. */
@Tag("deep") // quick: ClosingTest of core
@Timeout(90)
class LeftAtCloseTest {

    private static ZooKeeperEnsemble servers;

    @BeforeAll
    static void start() {
        servers = ZooKeeperEnsemble.start(1);
    }

    @AfterAll
    static void stop() {
        servers.close();
    }

    @Test
    void a_call_that_runs_at_the_close_keeps_its_lock_until_it_ends() throws Exception {
        LockClient closed = LockClient.connect(servers.uri() + "?sessionTimeout=2s");
        LockClient other = LockClient.connect(servers.uri());
        CountDownLatch runs = new CountDownLatch(2);
        CountDownLatch firstMayEnd = new CountDownLatch(1);
        CountDownLatch secondMayEnd = new CountDownLatch(1);
        Lease idle = closed.acquire("idle");
        CompletableFuture<Void> first = work(closed, "first", runs, firstMayEnd);
        CompletableFuture<Void> second = work(closed, "second", runs, secondMayEnd);
        assertThat(runs.await(30, TimeUnit.SECONDS)).isTrue();
        long sessions = sessions();

        closed.close();
        assertThat(idle.isValid()).isFalse();
        other.acquire("idle").release();
        // Longer than the session, which therefore lives.
        assertThat(other.tryAcquire("first", Duration.ofSeconds(4))).isEmpty();
        assertThat(other.tryAcquire("second", Duration.ZERO)).isEmpty();

        firstMayEnd.countDown();
        assertThat(first)
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LeaseLostException.class);
        Optional<Lease> taken = other.tryAcquire("first", Duration.ofSeconds(20));
        assertThat(taken).isPresent();
        taken.get().release();
        assertThat(other.tryAcquire("second", Duration.ZERO)).isEmpty();

        secondMayEnd.countDown();
        assertThat(second)
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LeaseLostException.class);
        taken = other.tryAcquire("second", Duration.ofSeconds(20));
        assertThat(taken).isPresent();
        taken.get().release();
        await().until(() -> sessions() < sessions);
        other.close();
    }

    private static CompletableFuture<Void> work(
            LockClient client, String name, CountDownLatch runs, CountDownLatch mayEnd) {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        client.run(name, lease -> {
                            runs.countDown();
                            try {
                                mayEnd.await();
                            } catch (InterruptedException e) {
                                throw new IllegalStateException(e);
                            }
                        });
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                },
                task -> new Thread(task, name).start());
    }

    private static long sessions() {
        return servers.count(0, "zk_num_alive_connections");
    }
}
