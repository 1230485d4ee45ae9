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
import java.util.concurrent.CompletableFuture;
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
    void wrong_settings_fail_at_once() {
        assertThatThrownBy(() -> LockClient.builder().uri("nonsense://x").lazy().build())
                .isInstanceOf(IllegalArgumentException.class);
    }
}
