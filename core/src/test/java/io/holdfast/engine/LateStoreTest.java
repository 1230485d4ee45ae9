package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockStoreException;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A client that is opened while its store cannot be reached. */
class LateStoreTest {

    private final MemoryLockStore.Server server = new MemoryLockStore.Server(TimeSource.system());
    private final AtomicBoolean reachable = new AtomicBoolean();
    private final AtomicInteger tries = new AtomicInteger();

    private LockClient.Builder builder() {
        return LockClient.builder().storeTimeout(Duration.ofMillis(300)).store(context -> {
            tries.incrementAndGet();
            if (!reachable.get()) {
                throw new StoreException(StoreException.Outcome.NOT_EXECUTED, "nobody is there", null);
            }
            return server.connect(context);
        });
    }

    @Test
    void calls_fail_until_the_store_is_there_and_then_succeed() {
        assertThatThrownBy(() -> builder().build()).isInstanceOf(LockStoreException.class);
        try (LockClient client = builder().lazy().build()) {
            assertThatThrownBy(() -> client.acquire("a"))
                    .isInstanceOf(LockStoreException.class)
                    .hasMessageContaining("nobody is there");
            assertThatThrownBy(() -> client.tryAcquire("a")).isInstanceOf(LockStoreException.class);
            assertThatThrownBy(client::storeHealth).isInstanceOf(LockStoreException.class);
            assertThat(client.localLocks()).isEmpty();
            assertThat(client.describeStore()).contains("could not be opened yet");

            reachable.set(true);
            await().ignoreExceptions().until(() -> client.storeHealth().usable());
            try (Lease lease = client.tryAcquire("a").orElseThrow()) {
                assertThat(lease.isValid()).isTrue();
                assertThat(client.inspect("a").isLocked()).isTrue();
            }
            assertThat(client.describeStore()).isEqualTo("memory");
        }
    }

    @Test
    void a_waiter_gets_the_lock_when_the_store_comes_within_its_time() throws Exception {
        try (LockClient client =
                builder().storeTimeout(Duration.ofSeconds(30)).lazy().build()) {
            CompletableFuture<Lease> waiting = client.acquireAsync("a").toCompletableFuture();
            await().until(() -> tries.get() > 1);
            assertThat(waiting).isNotDone();
            reachable.set(true);
            waiting.get(20, TimeUnit.SECONDS).release();
        }
    }

    @Test
    void a_client_that_is_closed_meanwhile_closes_the_store() {
        LockClient client = builder().lazy().build();
        client.close();
        reachable.set(true);
        assertThatThrownBy(() -> client.acquire("a")).isInstanceOf(LockClientClosedException.class);
        client.reopen();
        client.tryAcquire("a").orElseThrow().release();
        client.close();
    }

    @Test
    void cards_are_written_and_read_once_the_store_is_there() {
        try (LockClient client = builder().lazy().build()) {
            assertThatThrownBy(client::cards).hasMessageContaining("nobody is there");
            reachable.set(true);
            await().ignoreExceptions().until(() -> client.cards() != null);
            // The first card was due while the store was away, and the next one comes with the period.
            await().atMost(Duration.ofSeconds(30)).until(() -> client.cards().size() == 1);
        }
    }

    @Test
    void calls_make_one_attempt_a_second_at_most() throws Exception {
        try (LockClient client = builder().lazy().build()) {
            long end = System.nanoTime() + Duration.ofMillis(1_500).toNanos();
            long begun = System.nanoTime();
            while (System.nanoTime() < end) {
                assertThatThrownBy(client::storeHealth).isInstanceOf(LockStoreException.class);
                Thread.sleep(1);
            }
            long seconds = Duration.ofNanos(System.nanoTime() - begun).toSeconds();
            assertThat(tries.get()).isBetween(2, (int) seconds + 2);
        }
    }

    /** A missing class, for example. Without an end of the attempt there would never be another one. */
    @Test
    void an_error_of_the_opener_does_not_end_the_attempts() {
        AtomicBoolean broken = new AtomicBoolean();
        try (LockClient client = LockClient.builder()
                .store(context -> {
                    if (broken.get()) {
                        throw new NoClassDefFoundError("io/nothing");
                    }
                    if (!reachable.get()) {
                        throw new StoreException(StoreException.Outcome.NOT_EXECUTED, "nobody is there", null);
                    }
                    return server.connect(context);
                })
                .storeTimeout(Duration.ofMillis(300))
                .lazy()
                .build()) {
            broken.set(true);
            await().untilAsserted(() -> assertThatThrownBy(client::storeHealth).hasMessageContaining("io/nothing"));
            broken.set(false);
            reachable.set(true);
            await().ignoreExceptions().until(() -> client.storeHealth().usable());
        }
    }

    @Test
    void a_store_that_opens_after_the_end_of_its_client_is_closed() throws Exception {
        CountDownLatch opening = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        LockClient client = LockClient.builder()
                .store(context -> {
                    if (tries.incrementAndGet() == 1) {
                        throw new StoreException(StoreException.Outcome.NOT_EXECUTED, "nobody is there", null);
                    }
                    opening.countDown();
                    awaitUninterruptibly(ended);
                    return new ForwardingStore(server.connect(context)) {
                        @Override
                        public void close() {
                            super.close();
                            closed.countDown();
                        }
                    };
                })
                .storeTimeout(Duration.ofMillis(300))
                .lazy()
                .build();
        await().ignoreExceptions().until(() -> {
            var unused = client.tryAcquireAsync("a");
            return opening.await(10, TimeUnit.MILLISECONDS);
        });
        client.close();
        ended.countDown();
        assertThat(closed.await(20, TimeUnit.SECONDS)).isTrue();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A hold that was never sent is not withdrawn again and again until the store is there. */
    @Test
    void an_end_of_the_client_waits_for_no_command_that_was_never_sent() {
        LockClient client =
                builder().storeTimeout(Duration.ofSeconds(30)).lazy().build();
        CompletableFuture<Lease> waiting = client.acquireAsync("a").toCompletableFuture();
        assertThat(client.tryAcquireAllAsync(List.of("b", "c"))).isNotNull();
        long begun = System.nanoTime();
        client.close();
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(2));
        await().until(waiting::isCompletedExceptionally);
    }

    @Test
    void wrong_settings_fail_at_once() {
        assertThatThrownBy(() -> LockClient.builder().uri("nonsense://x").lazy().build())
                .isInstanceOf(IllegalArgumentException.class);
    }
}
