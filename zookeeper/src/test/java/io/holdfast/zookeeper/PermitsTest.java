package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.CardDetail;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.Permits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Permits of several clients on a real server. */
@Timeout(180)
class PermitsTest extends WithServer {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Test
    void the_permits_of_a_session_that_ended_go_to_others() throws Exception {
        Lease dies = client().permits("dies", 3).weight(2).acquire();
        Lease stays = client().permits("dies", 3).acquire();
        AtomicBoolean lost = new AtomicBoolean();
        dies.onLost(() -> lost.set(true));
        CompletableFuture<Lease> waiting =
                client().permits("dies", 3).weight(2).acquireAsync().toCompletableFuture();
        Thread.sleep(300);
        assertThat(waiting).isNotDone();

        ServerSide.closeSession(servers, sessionOf(dies));
        Lease next = waiting.get(40, TimeUnit.SECONDS);
        await().atMost(PATIENCE).untilTrue(lost);
        assertThat(stays.isValid()).isTrue();
        assertThat(next.fencingToken()).isGreaterThan(stays.fencingToken());
        next.release();
        stays.release();
    }

    /** A client that closes ends its session, and with it all that it holds. */
    @Test
    void the_permits_of_a_client_that_closes_are_free_at_once() throws Exception {
        LockClient closes = client();
        Lease held = closes.permits("closes", 2).weight(2).acquire();
        CompletableFuture<Lease> waiting =
                client().permits("closes", 2).acquireAsync().toCompletableFuture();
        closes.close();
        waiting.get(40, TimeUnit.SECONDS).release();
        assertThat(held.isValid()).isFalse();
    }

    @Test
    void many_threads_of_many_clients_never_have_more_than_the_limit() throws Exception {
        int limit = 3;
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger served = new AtomicInteger();
        List<Throwable> errors = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            int weight = i % 4 == 0 ? 2 : 1;
            Permits permits = (i % 3 == 0 ? client() : clients.get(0))
                    .permits("many", limit)
                    .weight(weight);
            Thread thread = new Thread(() -> {
                try {
                    for (int round = 0; round < 15; round++) {
                        try (Lease lease = permits.acquire()) {
                            most.accumulateAndGet(inside.addAndGet(weight), Math::max);
                            LockSupport.parkNanos(500_000);
                            inside.addAndGet(-weight);
                            served.incrementAndGet();
                            assertThat(lease.isExclusive()).isFalse();
                        }
                    }
                } catch (Throwable e) {
                    synchronized (errors) {
                        errors.add(e);
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join(120_000);
        }
        assertThat(errors).isEmpty();
        assertThat(served).hasValue(12 * 15);
        assertThat(most).hasValueBetween(2, limit);
    }

    @Test
    void a_lowered_limit_waits_until_enough_have_gone() throws Exception {
        LockClient one = client();
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            held.add(one.permits("lowered", 4).acquire());
        }
        CompletableFuture<Lease> fewer =
                client().permits("lowered", 2).acquireAsync().toCompletableFuture();
        held.get(0).release();
        held.get(1).release();
        Thread.sleep(500);
        assertThat(fewer).isNotDone();
        // It is before this one, which would have room.
        assertThat(one.permits("lowered", 4).tryAcquire(LockOptions.defaults())).isEmpty();
        held.get(2).release();
        fewer.get(40, TimeUnit.SECONDS).release();
        held.get(3).release();
    }

    private LockClient client() {
        return open("/permits?sessionTimeout=30s", CardDetail.OFF);
    }

    /** The session of the first node of the permits that a lease belongs to. */
    private long sessionOf(Lease lease) throws Exception {
        ZooKeeper look = new ZooKeeper(servers.servers(), 10_000, event -> {});
        try {
            await().until(() -> look.getState().isConnected());
            String folder = "/permits/~pools/" + NodeNames.encode("p:" + lease.name());
            QueueSnapshot queue = QueueSnapshot.of(look.getChildren(folder, false), true);
            return Long.parseUnsignedLong(queue.node(0).split("~", -1)[1], 16);
        } finally {
            look.close();
        }
    }
}
