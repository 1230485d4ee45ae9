package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.holdfast.DeadlockException;
import io.holdfast.DistributedLock;
import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Threads of one process that would wait for each other for ever: one of them gets a sentence, where that is certain.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeadlockTest {

    private static final LockOptions DEFAULTS = LockOptions.defaults();

    private final LockClient client = LockClient.connect("memory:deadlocks");
    private final List<Thread> threads = new ArrayList<>();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

    /** How the other thread takes its locks. */
    enum Form {
        LOCK,
        LAMBDA,
        ALL
    }

    @AfterEach
    void stop() throws InterruptedException {
        for (Thread thread : threads) {
            thread.interrupt();
            thread.join(20_000);
            assertThat(thread.isAlive()).isFalse();
        }
        client.close();
        assertThat(failures).isEmpty();
    }

    /** A refusal takes the lock of the name, which may take the thread's wake-up. */
    @Test
    void a_waiter_whose_outcome_comes_while_it_is_refused_does_not_park() throws Exception {
        Lease own = client.acquire("a", DEFAULTS.releasedByThread());
        Waiter waiter = Waiter.blocking(DEFAULTS, Waiter.Mode.PATIENT, null, System.nanoTime());
        waiter.onSubmitted((NameEvents) Proxy.newProxyInstance(
                NameEvents.class.getClassLoader(),
                new Class<?>[] {NameEvents.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "settings" -> Inside.engine(client).settings;
                    case "blocking" -> List.of(LeaseHandle.active(own));
                    case "onLeave" -> {
                        waiter.complete(new LockClientClosedException("first"));
                        LockSupport.parkNanos(1);
                        yield false;
                    }
                    default -> throw new UnsupportedOperationException(method.getName());
                }));
        assertThatThrownBy(waiter::await).isInstanceOf(LockClientClosedException.class);
        own.release();
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void the_second_waiter_of_two_is_refused_at_once_and_the_first_goes_on(Form form) throws Exception {
        CountDownLatch got = new CountDownLatch(1);
        client.getLock("a").lock();
        Thread first = start("first", () -> takes(form, "b", "a", got));
        Awaitility.await().until(() -> waits(first));
        assertThatThrownBy(() -> client.getLock("b").lock())
                .isInstanceOf(DeadlockException.class)
                .hasMessageContaining(
                        "Deadlock: Thread \"" + Thread.currentThread().getName() + "\" holds the lock \"a\"")
                .hasMessageContaining(
                        "would wait for \"b\"; Thread \"first\" holds the lock \"b\" and would wait for \"a\"")
                .hasMessageContaining("(expected: ")
                .asInstanceOf(type(DeadlockException.class))
                .extracting(DeadlockException::lockNames)
                .isEqualTo(List.of("b", "a"));
        assertThat(client.getLock("a").isHeldByCurrentThread()).isTrue();
        assertThat(got.getCount()).isOne();
        client.getLock("a").unlock();
        assertThat(got.await(20, TimeUnit.SECONDS)).isTrue();
        client.getLock("b").lock();
        client.getLock("b").unlock();
    }

    private void takes(Form form, String first, String second, CountDownLatch got) throws Exception {
        switch (form) {
            case LOCK -> {
                DistributedLock outer = client.getLock(first);
                outer.lockInterruptibly();
                try {
                    client.getLock(second).lockInterruptibly();
                    got.countDown();
                    client.getLock(second).unlock();
                } finally {
                    outer.unlock();
                }
            }
            case LAMBDA -> under(client, first, () -> under(client, second, got::countDown));
            case ALL ->
                under(
                        client,
                        first,
                        () -> client.acquireAll(List.of(second, "other")).close());
        }
        got.countDown();
    }

    @Test
    void a_cycle_of_three_over_two_clients_is_seen() throws Exception {
        try (LockClient other = LockClient.connect("memory:deadlocks-elsewhere")) {
            under(client, "a", () -> {
                Thread third = start("third", () -> under(client, "c", () -> under(client, "a", () -> {})));
                Awaitility.await().until(() -> waits(third));
                Thread second = start("second", () -> under(other, "b", () -> under(client, "c", () -> {})));
                Awaitility.await().until(() -> waits(second));
                assertThatThrownBy(() -> under(other, "b", () -> {}))
                        .isInstanceOf(DeadlockException.class)
                        .hasMessageContainingAll("\"a\"", "\"b\"", "\"c\"", "\"second\"", "\"third\"");
            });
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    @Test
    void a_bounded_wait_ends_by_itself() throws Exception {
        LockOptions bounded = DEFAULTS.waitAtMost(Duration.ofMillis(300));
        under(client, "a", () -> {
            Thread other = start(
                    "other",
                    () -> under(
                            client,
                            "b",
                            () -> assertThatThrownBy(() -> client.acquire("a", bounded))
                                    .isInstanceOf(LockTimeoutException.class)));
            Awaitility.await().until(() -> waits(other));
            under(client, "b", () -> {});
        });
        under(client, "a", () -> {
            Thread other = start("other", () -> under(client, "b", () -> under(client, "a", () -> {})));
            Awaitility.await().until(() -> waits(other));
            assertThatThrownBy(() -> client.acquire("b", bounded)).isInstanceOf(LockTimeoutException.class);
        });
    }

    @Test
    void a_lease_with_an_end_ends_the_wait() throws Exception {
        Thread[] other = new Thread[1];
        assertThatThrownBy(() -> client.run("a", DEFAULTS.holdAtMost(Duration.ofMillis(500)), lease -> {
                    other[0] = start("other", () -> under(client, "b", () -> under(client, "a", () -> {})));
                    Awaitility.await().until(() -> waits(other[0]));
                    client.getLock("b").lock();
                    client.getLock("b").unlock();
                }))
                .isInstanceOf(LeaseLostException.class);
    }

    @Test
    void a_lease_that_any_thread_may_release_is_no_part_of_a_deadlock() throws Exception {
        try (Lease a = client.acquire("a")) {
            Thread other = start("other", () -> under(client, "b", () -> under(client, "a", () -> {})));
            Awaitility.await().until(() -> waits(other));
            start("releasing", () -> {
                Awaitility.await()
                        .until(() -> client.localLocks().stream()
                                .anyMatch(lock -> lock.name().equals("b") && lock.waiting() == 1));
                a.release();
            });
            under(client, "b", () -> {});
        }
    }

    /** Otherwise a thread that waits for such a lease could go on, and the refusal of its wait would be wrong. */
    @Test
    void no_other_thread_releases_the_lease_of_a_task() throws Exception {
        String test = Thread.currentThread().getName();
        client.run("a", DEFAULTS, lease -> {
            Thread other = start("other", () -> {
                assertThatThrownBy(lease::release)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("cannot be released by thread \"other\"")
                        .hasMessageContaining("(expected: a release by thread \"" + test + "\"");
                assertThatThrownBy(() -> lease.releaseHoldingAtLeastAsync(Duration.ZERO))
                        .isInstanceOf(IllegalStateException.class);
            });
            join(other);
            assertThat(lease.isValid()).isTrue();
            lease.release();
            assertThat(client.tryAcquire("a"))
                    .as("released by its own thread, within the task")
                    .hasValueSatisfying(Lease::close);
        });
    }

    /** Spring releases such leases on another thread, for example after a JTA commit. */
    @Test
    void a_lease_that_was_declared_to_be_released_by_its_thread_may_be_released_by_another_one() throws Exception {
        Lease lease = client.acquire("a", DEFAULTS.releasedByThread());
        join(start("other", lease::release));
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void a_wait_that_ignores_deadlocks_is_no_part_of_one() throws Exception {
        under(client, "a", () -> {
            Thread ignoring = start(
                    "ignoring",
                    () -> under(
                            client,
                            "b",
                            () -> client.acquire("a", DEFAULTS.ignoreDeadlocks())
                                    .release()));
            Awaitility.await().until(() -> waits(ignoring));
            start("interrupting", () -> {
                Awaitility.await()
                        .until(() -> client.localLocks().stream()
                                .anyMatch(lock -> lock.name().equals("b") && lock.waiting() == 1));
                ignoring.interrupt();
            });
            under(client, "b", () -> {});
        });
    }

    /** Both have seen the cycle, and neither may lose its place by waiting for its turn to report it. */
    @Test
    void of_two_that_see_the_cycle_at_once_one_is_refused() throws Exception {
        CountDownLatch refused = new CountDownLatch(1);
        CountDownLatch bothHold = new CountDownLatch(2);
        DeadlockCheck.REFUSING.lock();
        try {
            for (String own : List.of("a", "b")) {
                start(
                        own,
                        () -> under(client, own, () -> {
                            bothHold.countDown();
                            bothHold.await();
                            try {
                                under(client, own.equals("a") ? "b" : "a", () -> {});
                            } catch (DeadlockException e) {
                                refused.countDown();
                            }
                        }));
            }
            Awaitility.await()
                    .until(() -> client.localLocks().stream()
                                    .filter(lock -> lock.waiting() == 1)
                                    .count()
                            == 2);
            Thread.sleep(50);
        } finally {
            DeadlockCheck.REFUSING.unlock();
        }
        assertThat(refused.await(20, TimeUnit.SECONDS)).isTrue();
    }

    /** It is about to throw, so the other threads of its cycle will go on. */
    @Test
    void a_waiter_that_was_refused_does_not_count() throws Exception {
        under(client, "a", () -> {
            Thread refused = start("refused", () -> under(client, "b", () -> under(client, "a", () -> {})));
            Awaitility.await().until(() -> waits(refused));
            ((Waiter) LockSupport.getBlocker(refused)).refused = true;
            Thread test = Thread.currentThread();
            start("interrupting", () -> {
                Awaitility.await().until(() -> waits(test));
                test.interrupt();
            });
            assertThatThrownBy(() -> client.acquire("b")).isInstanceOf(InterruptedException.class);
        });
    }

    /** Two threads begin to wait at the same instant, very often: one of them is refused each time, and only one. */
    @Test
    void of_two_that_begin_to_wait_at_once_exactly_one_is_refused() throws Exception {
        int rounds = 5_000;
        AtomicInteger ready = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        List<Thread> two = new ArrayList<>();
        for (int side = 0; side < 2; side++) {
            String own = "side-" + side;
            String other = "side-" + (1 - side);
            two.add(start(own, () -> {
                for (int i = 0; i < rounds; i++) {
                    client.getLock(own).lockInterruptibly();
                    meet(ready, 4 * i + 2);
                    try {
                        client.getLock(other).lockInterruptibly();
                        client.getLock(other).unlock();
                    } catch (DeadlockException e) {
                        refused.incrementAndGet();
                    } finally {
                        client.getLock(own).unlock();
                    }
                    meet(ready, 4 * i + 4);
                }
            }));
        }
        for (Thread thread : two) {
            thread.join();
        }
        assertThat(refused).hasValue(rounds);
    }

    /** Threads that take locks in one order, and wait for each other all the time. */
    @Test
    void threads_with_one_order_are_never_refused() throws Exception {
        AtomicInteger rounds = new AtomicInteger();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(start("ordered-" + i, () -> {
                while (rounds.incrementAndGet() < 20_000) {
                    under(
                            client,
                            "1",
                            () -> under(client, "2", () -> under(client, "3", () -> LockSupport.parkNanos(1))));
                }
            }));
        }
        for (Thread thread : all) {
            thread.join();
        }
    }

    // --- threads ---

    @FunctionalInterface
    private interface Work {
        void run() throws Exception;
    }

    private static void under(LockClient client, String name, Work work) throws Exception {
        client.<Exception>runChecked(name, DEFAULTS, lease -> work.run());
    }

    /** Returns at the same instant in both threads, which no barrier that parks does. */
    @SuppressWarnings("ThreadPriorityCheck") // it gives way on a machine with few processors
    private static void meet(AtomicInteger ready, int all) {
        ready.incrementAndGet();
        while (ready.get() < all) {
            Thread.yield();
        }
    }

    private Thread start(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    } catch (Throwable e) {
                        failures.add(e);
                    }
                },
                name);
        threads.add(thread);
        thread.start();
        return thread;
    }

    private static void join(Thread thread) {
        try {
            thread.join(20_000);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean waits(Thread thread) {
        return thread.getState() == Thread.State.WAITING && LockSupport.getBlocker(thread) instanceof Waiter;
    }
}
