package io.holdfast.engine;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.ClientCard;
import io.holdfast.DistributedLock;
import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockOptions;
import io.holdfast.LockState;
import io.holdfast.MultiLease;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
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

    private static final List<String> GROUP = List.of("a", "held by the other");

    private final LockClient client = client("hf-one");
    private final LockClient other = client("hf-two");
    private final CountDownLatch mayEnd = new CountDownLatch(1);

    private LockClient client(String id) {
        LockStore store = server.connect(new StoreContext(id, time));
        LockClient.Builder builder = LockClient.builder()
                .store(new ForwardingStore(store) {
                    @Override
                    public Optional<CardStore> cards() {
                        return store.cards();
                    }

                    @Override
                    public void leave(String name, String holderId, BooleanSupplier inUse) {
                        left.put(name, inUse);
                    }
                })
                .timeSource(time);
        return Inside.settings(builder, settings -> settings.clientId = id).build();
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

    /** Nobody works under it yet. */
    @Test
    void a_name_of_an_unfinished_group_is_released() {
        LockOptions options = LockOptions.defaults().leftAtClose();
        assertGroupIsReleased(() -> client.acquireAllAsync(GROUP, options).toCompletableFuture());
    }

    @Test
    void a_name_of_an_unfinished_group_that_a_thread_waits_for_is_released() {
        LockOptions options = LockOptions.defaults().releasedByThread();
        assertGroupIsReleased(() -> CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return client.acquireAll(GROUP, options);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                },
                wait -> new Thread(wait).start()));
    }

    private void assertGroupIsReleased(Supplier<CompletableFuture<MultiLease>> begin) {
        assertThat(other.tryAcquire("held by the other")).isPresent();
        CompletableFuture<MultiLease> group = begin.get();
        await().until(() -> other.inspect("a").isLocked());
        client.close();

        assertThat(left).isEmpty();
        assertThat(other.tryAcquire("a")).isPresent();
        assertThat(group)
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableThat()
                .withRootCauseInstanceOf(LockClientClosedException.class);
    }

    /** More than a thread's lost locks that are remembered: a store may wait for each of them. */
    @Test
    void each_of_very_many_locks_of_a_thread_is_given_back() throws Exception {
        List<String> names = IntStream.range(0, 200).mapToObj(i -> "n" + i).toList();
        CompletableFuture<Void> ended = start(holds -> {
            names.forEach(name -> client.getLock(name).lock());
            work(holds);
            for (String name : names) {
                assertThatThrownBy(client.getLock(name)::unlock).isInstanceOf(LeaseLostException.class);
            }
            assertThat(left.values().stream().filter(BooleanSupplier::getAsBoolean))
                    .isEmpty();
        });
        client.close();
        assertThat(left).hasSize(names.size());
        assertThat(left.values()).allMatch(BooleanSupplier::getAsBoolean);
        mayEnd.countDown();
        assertThat(ended).succeedsWithin(Duration.ofSeconds(20));
    }

    /** Who waits for the lock can see for whom, until it is free. */
    @Test
    void the_card_of_what_is_left_stays() throws Exception {
        Lease idle = client.acquire("idle");
        CompletableFuture<Void> ended = start(holds -> client.run("a", lease -> work(holds)));
        time.advance(Duration.ofSeconds(20));
        client.close();
        assertThat(idle.isValid()).isFalse();

        LockState seen = other.inspect("a");
        assertThat(seen.holderCard()).isPresent();
        List<ClientCard> cards = other.cards().stream()
                .filter(card -> card.id().equals("hf-one"))
                .toList();
        assertThat(cards).hasSize(1);
        assertThat(cards.get(0).held())
                .singleElement()
                .satisfies(held -> assertThat(held.name()).isEqualTo("a"))
                .satisfies(held -> assertThat(held.remaining().orElseThrow())
                        .isLessThanOrEqualTo(seen.remaining().orElseThrow()));
        time.advance(Duration.ofSeconds(61));
        assertThat(other.cards()).noneMatch(card -> card.id().equals("hf-one"));
        mayEnd.countDown();
        assertThat(ended).failsWithin(Duration.ofSeconds(20));
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
