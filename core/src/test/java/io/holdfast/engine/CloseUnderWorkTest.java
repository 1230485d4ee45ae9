package io.holdfast.engine;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that closes while work under its locks goes on gives these locks to nobody before their leases end. */
@Timeout(60)
class CloseUnderWorkTest {

    private final VirtualTime time = new VirtualTime();
    private final MemoryLockStore.Server server = new MemoryLockStore.Server(time);

    /** What the client told the store that it leaves, by name. */
    private final Map<String, BooleanSupplier> left = new ConcurrentHashMap<>();

    private final LockClient client = client("one");
    private final LockClient other = client("two");
    private final CountDownLatch mayEnd = new CountDownLatch(1);

    private LockClient client(String id) {
        return LockClient.builder()
                .store(new ForwardingStore(server.connect(new StoreContext(id, time))) {
                    @Override
                    public void leave(String name, String holderId, BooleanSupplier inUse) {
                        left.put(name, inUse);
                    }
                })
                .timeSource(time)
                .build();
    }

    @AfterEach
    void end() {
        mayEnd.countDown();
        client.close();
        other.close();
    }

    private interface Work {
        void run(CountDownLatch holds) throws Exception;
    }

    /** Starts work in a thread of its own. Returns how the thread ends, once the work holds its lock. */
    private CompletableFuture<Void> start(Work work) throws InterruptedException {
        CountDownLatch holds = new CountDownLatch(1);
        CompletableFuture<Void> ended = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                work.run(holds);
                ended.complete(null);
            } catch (Throwable e) {
                ended.completeExceptionally(e);
            }
        });
        thread.start();
        assertThat(holds.await(20, SECONDS)).isTrue();
        return ended;
    }

    private void work(CountDownLatch holds) {
        holds.countDown();
        try {
            mayEnd.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The work under the lock "a" goes on, and its lock is free only after the lease. */
    private void assertLeft(CompletableFuture<Void> ended) {
        client.close();

        assertThat(other.tryAcquire("a")).isEmpty();
        assertThat(left.get("a").getAsBoolean()).isTrue();
        time.advance(Duration.ofSeconds(31));
        other.tryAcquire("a").orElseThrow().release();

        mayEnd.countDown();
        assertThatThrownBy(ended::join)
                .hasRootCauseInstanceOf(LeaseLostException.class)
                .rootCause()
                .hasMessageContaining(
                        "was closed while work under it ran; the lock stays locked until the lease has run out");
        assertThat(left.get("a").getAsBoolean()).isFalse();
    }

    @Test
    void run_keeps_its_lock() throws Exception {
        assertLeft(start(holds -> client.run("a", lease -> work(holds))));
    }

    @Test
    void tryRun_keeps_its_lock() throws Exception {
        assertLeft(start(holds -> client.tryRun("a", lease -> work(holds))));
    }

    @Test
    void a_lock_of_another_thread_keeps_it() throws Exception {
        assertLeft(start(holds -> {
            DistributedLock lock = client.getLock("a");
            lock.lock();
            lock.lock();
            try {
                work(holds);
            } finally {
                assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
                lock.unlock();
            }
        }));
    }

    @Test
    void a_lease_that_another_thread_releases_is_left() throws Exception {
        assertLeft(start(holds -> {
            try (Lease lease = client.acquire("a", LockOptions.defaults().releasedByThread())) {
                assertThat(lease.isValid()).isTrue();
                work(holds);
            }
        }));
    }

    @Test
    void several_names_are_left() throws Exception {
        assertLeft(start(holds -> {
            try (MultiLease leases =
                    client.acquireAll(List.of("a", "b"), LockOptions.defaults().leftAtClose())) {
                assertThat(leases.isValid()).isTrue();
                work(holds);
            }
        }));
    }

    @Test
    void an_asynchronous_task_keeps_its_lock() throws Exception {
        CompletableFuture<Void> task = new CompletableFuture<>();
        CompletableFuture<Void> ended = new CompletableFuture<>();
        CountDownLatch begun = new CountDownLatch(1);
        client.callAsync("a", lease -> {
                    begun.countDown();
                    return task;
                })
                .whenComplete((value, why) -> {
                    if (why == null) {
                        ended.complete(null);
                    } else {
                        ended.completeExceptionally(why);
                    }
                });
        assertThat(begun.await(20, SECONDS)).isTrue();
        client.close();

        assertThat(other.tryAcquire("a")).isEmpty();
        assertThat(left.get("a").getAsBoolean()).isTrue();
        task.complete(null);
        assertThatThrownBy(ended::join).hasRootCauseInstanceOf(LeaseLostException.class);
        assertThat(left.get("a").getAsBoolean()).isFalse();
    }

    /** The lambda form is on the stack of the thread that closes, so its work goes on after the close. */
    @Test
    void a_close_inside_of_a_lambda_form_leaves_its_lock() {
        assertThatThrownBy(() -> client.run("a", lease -> client.close())).isInstanceOf(LeaseLostException.class);
        assertThat(other.tryAcquire("a")).isEmpty();
    }

    @Test
    void a_lease_that_any_thread_may_release_is_released() throws Exception {
        Lease lease = client.acquire("a");
        CountDownLatch told = new CountDownLatch(1);
        lease.onLost(told::countDown);
        client.close();

        assertThat(told.await(20, SECONDS)).isTrue();
        other.tryAcquire("a").orElseThrow().release();
        assertThatThrownBy(lease::release)
                .isInstanceOf(LeaseLostException.class)
                .hasMessageEndingWith("was lost: the client was closed");
        assertThat(left).isEmpty();
    }

    @Test
    void a_lock_of_the_closing_thread_is_released() {
        client.getLock("a").lock();
        client.close();
        other.tryAcquire("a").orElseThrow().release();
    }

    @Test
    void a_lock_of_a_dead_thread_is_released() throws Exception {
        Thread thread = new Thread(() -> client.getLock("a").lock());
        thread.start();
        thread.join();
        client.close();
        other.tryAcquire("a").orElseThrow().release();
    }

    /** A store whose holds end with its connections may then end the left hold. */
    @Test
    void a_thread_that_dies_under_its_lock_does_not_use_it_any_more() throws Exception {
        CountDownLatch holds = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            client.getLock("a").lock();
            work(holds);
        });
        thread.start();
        assertThat(holds.await(20, SECONDS)).isTrue();
        client.close();
        assertThat(left.get("a").getAsBoolean()).isTrue();

        mayEnd.countDown();
        thread.join();
        assertThat(left.get("a").getAsBoolean()).isFalse();
    }
}
