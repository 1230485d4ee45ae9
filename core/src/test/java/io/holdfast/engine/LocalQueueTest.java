package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The local queue under real threads: barging, fairness, and everything that can happen to a waiter, at once. */
@Timeout(60)
class LocalQueueTest {

    private final MemoryLockStore.Server server = new MemoryLockStore.Server(TimeSource.system());
    private final ProbeStore store = new ProbeStore(server.connect(new StoreContext("one", TimeSource.system())));
    private final List<LockClient> clients = new ArrayList<>();

    private LockClient client(long bargeMillis) {
        LockClient made = Inside.settings(LockClient.builder(), settings -> {
                    settings.clientId = "one";
                    settings.bargeNanos = TimeUnit.MILLISECONDS.toNanos(bargeMillis);
                })
                .store(store)
                .build();
        clients.add(made);
        return made;
    }

    @AfterEach
    protected void nothing_is_left() {
        for (LockClient client : clients) {
            client.close();
            assertThat(Inside.engine(client).size()).isZero();
            assertThat(Inside.engine(client).renewals.size()).isZero();
        }
        assertThat(server.size()).isZero();
    }

    @Test
    void a_running_thread_takes_an_open_lock_before_a_parked_one_that_has_just_come() throws Exception {
        // A minute, so that the parked thread is "just come" however slow this machine is.
        LockClient client = client(60_000);
        List<String> order = new ArrayList<>();
        Lease first = client.acquire("a");
        Thread parked = waiting(client, LockOptions.defaults(), () -> order.add("parked"));
        first.release();
        Lease barged = client.tryAcquire("a").orElse(null);
        // Either the woken thread was quicker than we, or we were; it gets the lock in any case.
        if (barged != null) {
            order.add("running");
            barged.release();
        }
        parked.join();

        assertThat(order).contains("parked");
        assertThat(store.count("acquire")).isLessThanOrEqualTo(2);
    }

    @Test
    void nobody_barges_before_a_fair_waiter() throws Exception {
        LockClient client = client(60_000);
        Lease first = client.acquire("a");
        AtomicInteger entered = new AtomicInteger();
        Thread parked = waiting(client, LockOptions.defaults().fair(), entered::incrementAndGet);
        first.release();
        // The release itself hands over, so a later caller comes after it.
        try (Lease after = client.acquire("a")) {
            assertThat(entered).hasValue(1);
            assertThat(after.isValid()).isTrue();
        }
        parked.join();
    }

    @Test
    void a_waiter_that_was_woken_for_an_open_lock_and_leaves_does_not_take_the_wake_up_with_it() throws Exception {
        LockClient client = client(60_000);
        for (int round = 0; round < 200; round++) {
            Lease held = client.acquire("a");
            Thread leaving = new Thread(() -> {
                try {
                    client.acquire("a").release();
                } catch (InterruptedException e) {
                    // this is what it came for
                }
            });
            leaving.start();
            while (leaving.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            Thread staying = waiting(client, LockOptions.defaults(), () -> {});
            leaving.interrupt();
            held.release();
            leaving.join();
            staying.join();
        }
    }

    @Test
    void threads_that_wait_time_out_are_interrupted_and_hand_on_never_overlap_and_are_never_forgotten()
            throws Exception {
        LockClient client = client(1);
        int count = 8;
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        AtomicLong lastToken = new AtomicLong();
        AtomicInteger got = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(count);
        Queue<Throwable> died = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            SplittableRandom random = new SplittableRandom(i);
            threads.add(new Thread(() -> {
                for (int round = 0; round < 3_000; round++) {
                    try (Lease lease =
                            client.tryAcquire("a", randomOptions(random)).orElse(null)) {
                        if (lease == null) {
                            continue;
                        }
                        got.incrementAndGet();
                        if (inside.incrementAndGet() != 1
                                || lastToken.getAndSet(lease.fencingToken()) >= lease.fencingToken()) {
                            overlaps.incrementAndGet();
                        }
                        inside.decrementAndGet();
                    } catch (InterruptedException e) {
                        // as any other end of a wait
                    }
                }
                done.countDown();
            }));
            threads.get(i).setUncaughtExceptionHandler((thread, thrown) -> {
                died.add(thrown);
                done.countDown();
            });
        }
        threads.forEach(Thread::start);
        SplittableRandom random = new SplittableRandom(99);
        while (!done.await(1, TimeUnit.MILLISECONDS)) {
            threads.get(random.nextInt(count)).interrupt();
        }

        assertThat(died).isEmpty();
        assertThat(overlaps).hasValue(0);
        assertThat(got.get()).isGreaterThan(1_000);
    }

    private static LockOptions randomOptions(SplittableRandom random) {
        LockOptions options = LockOptions.defaults().waitAtMost(Duration.ofNanos(random.nextLong(2_000_000)));
        options = switch (random.nextInt(8)) {
            case 0 -> options.fair();
            case 1 -> options.waitAtMost(Duration.ZERO);
            case 2 -> options.waitAtMost(Duration.ofSeconds(30));
            case 3 -> options.leaseFor(Duration.ofSeconds(1));
            case 4 -> options.holdAtMost(Duration.ofSeconds(1));
            default -> options;
        };
        return options;
    }

    /** A thread that waits for the lock. */
    private static Thread waiting(LockClient client, LockOptions options, Runnable inside) {
        Thread thread = new Thread(() -> {
            try (Lease lease = client.acquire("a", options)) {
                lease.ensureValid();
                inside.run();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        thread.start();
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        return thread;
    }
}
