package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Inside;
import io.holdfast.LockClient;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockOptions;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rule 13 under real threads: a caller that asks during the close fails, or its lease is lost. */
@Timeout(60)
class ClosingTest {

    /** Many close because they were interrupted, and set the flag again as one should. */
    @Test
    void a_close_by_an_interrupted_thread_waits_for_the_releases_all_the_same() {
        MemoryLockStore.Server server = new MemoryLockStore.Server(TimeSource.system());
        AtomicBoolean closedBefore = new AtomicBoolean();
        CompletableFuture<ReleaseReply> released = new CompletableFuture<>();
        LockClient client = LockClient.builder()
                .store(context -> new ForwardingStore(server.connect(context)) {
                    @Override
                    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
                        CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS)
                                .execute(() -> super.release(request)
                                        .whenComplete((reply, error) -> released.complete(reply)));
                        return released;
                    }

                    @Override
                    public void close() {
                        closedBefore.set(!released.isDone());
                        super.close();
                    }
                })
                .build();
        var unused = client.tryAcquire("a").orElseThrow();
        Thread.currentThread().interrupt();
        client.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(closedBefore).isFalse();
        assertThat(server.size()).isZero();
    }

    @Test
    void an_acquire_that_crosses_the_close_leaves_nothing() throws Exception {
        MemoryLockStore.Server server = new MemoryLockStore.Server(TimeSource.system());
        ExecutorService closer = Executors.newSingleThreadExecutor();
        CyclicBarrier start = new CyclicBarrier(2);
        try {
            for (int round = 0; round < 20_000; round++) {
                LockClient client = Inside.settings(LockClient.builder(), settings -> settings.clientId = "one")
                        .store(server.connect(new StoreContext("one", TimeSource.system())))
                        .callbackExecutor(Runnable::run)
                        .build();
                Future<?> closed = closer.submit(() -> {
                    start.await();
                    Inside.engine(client).closeAsync().toCompletableFuture().join();
                    return null;
                });
                start.await();
                int spin = round % 64;
                while (spin-- > 0) {
                    Thread.onSpinWait();
                }
                try {
                    Inside.engine(client).submitAsync("a", LockOptions.defaults(), Waiter.Mode.PATIENT);
                } catch (LockClientClosedException e) {
                    // too late: fine
                }
                closed.get();

                assertThat(Inside.engine(client).size()).as("round " + round).isZero();
                assertThat(server.size()).as("round " + round).isZero();
            }
        } finally {
            closer.shutdownNow();
        }
    }
}
