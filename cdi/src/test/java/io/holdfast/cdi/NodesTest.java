package io.holdfast.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.servers.RedisServer;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.se.SeContainer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Two nodes of an application, each with a container and a client of its own. */
class NodesTest {

    @ApplicationScoped
    static class Jobs {

        static final AtomicInteger runs = new AtomicInteger();
        static volatile CountDownLatch inside = new CountDownLatch(1);
        static volatile CountDownLatch leave = new CountDownLatch(1);

        @ScheduledLock(name = "nightly")
        void nightly() throws InterruptedException {
            runs.incrementAndGet();
            inside.countDown();
            assertThat(leave.await(30, TimeUnit.SECONDS)).isTrue();
        }

        @ScheduledLock(name = "short", atLeast = "30s")
        void brief() {
            runs.incrementAndGet();
        }

        @Locked(name = "order.refund", key = "{0}")
        int refund(int orderId, int[] balance) throws InterruptedException {
            int before = balance[0];
            Thread.sleep(1);
            balance[0] = before + 1;
            return balance[0];
        }
    }

    @Test
    void in_memory() throws Exception {
        onTwoNodes("memory:nodes");
    }

    @Test
    void on_redis() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            onTwoNodes(server.uri());
        }
    }

    private static void onTwoNodes(String store) throws Exception {
        Jobs.runs.set(0);
        Jobs.inside = new CountDownLatch(1);
        Jobs.leave = new CountDownLatch(1);
        try (SeContainer first = Containers.start(store, Jobs.class);
                SeContainer second = Containers.start(store, Jobs.class)) {
            Jobs one = first.select(Jobs.class).get();
            Jobs two = second.select(Jobs.class).get();
            CompletableFuture<Void> running = CompletableFuture.runAsync(() -> {
                try {
                    one.nightly();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(Jobs.inside.await(30, TimeUnit.SECONDS)).isTrue();
            two.nightly();
            assertThat(Jobs.runs).hasValue(1);
            Jobs.leave.countDown();
            running.get(30, TimeUnit.SECONDS);
            two.nightly();
            assertThat(Jobs.runs).hasValue(2);

            one.brief();
            two.brief();
            assertThat(Jobs.runs).hasValue(3);

            int[] balance = new int[1];
            CompletableFuture<?>[] all = new CompletableFuture<?>[2];
            for (int i = 0; i < all.length; i++) {
                Jobs node = i == 0 ? one : two;
                all[i] = CompletableFuture.runAsync(() -> {
                    try {
                        for (int j = 0; j < 20; j++) {
                            node.refund(7, balance);
                        }
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                });
            }
            CompletableFuture.allOf(all).get(60, TimeUnit.SECONDS);
            assertThat(balance[0]).isEqualTo(40);
        }
    }
}
