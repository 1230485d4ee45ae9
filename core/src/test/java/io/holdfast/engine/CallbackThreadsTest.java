package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CallbackThreadsTest {

    private final CallbackThreads threads = new CallbackThreads("holdfast-callback");

    @AfterEach
    void close() {
        threads.close();
    }

    /** The thread that ran the one before may just be ending: what comes then must not be left to it. */
    @Test
    void a_task_that_comes_when_the_last_one_ends_is_run() throws InterruptedException {
        for (int i = 0; i < 20_000; i++) {
            CountDownLatch ran = new CountDownLatch(1);
            threads.execute(ran::countDown);
            assertThat(ran.await(10, TimeUnit.SECONDS)).as("task " + i).isTrue();
        }
    }

    @Test
    void very_many_short_ones_need_few_threads() {
        AtomicInteger ran = new AtomicInteger();
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        for (int i = 0; i < 100_000; i++) {
            threads.execute(() -> {
                used.add(Thread.currentThread());
                ran.incrementAndGet();
            });
        }
        await().until(() -> ran.get() == 100_000);
        // Some more than processors, where the machine is busy with other things; not one for each.
        assertThat(used).hasSizeLessThan(1_000);
    }

    /** Each waits for all the others, so none may wait for the end of another. */
    @Test
    void callbacks_that_block_hold_up_no_others() {
        int parties = 300;
        CyclicBarrier all = new CyclicBarrier(parties);
        AtomicInteger passed = new AtomicInteger();
        for (int i = 0; i < parties; i++) {
            threads.execute(() -> {
                try {
                    all.await();
                    passed.incrementAndGet();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
        }
        await().atMost(Duration.ofSeconds(30)).until(() -> passed.get() == parties);
    }

    @Test
    void very_many_that_block_take_a_bounded_number_of_threads_and_all_run() {
        int tasks = 2_000;
        CountDownLatch end = new CountDownLatch(1);
        AtomicInteger begun = new AtomicInteger();
        AtomicInteger ran = new AtomicInteger();
        for (int i = 0; i < tasks; i++) {
            threads.execute(() -> {
                begun.incrementAndGet();
                try {
                    end.await();
                    ran.incrementAndGet();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
        await().during(Duration.ofMillis(500)).atMost(Duration.ofSeconds(30)).until(() -> begun.get() >= 512);
        int threadsUsed = begun.get();
        end.countDown();
        await().atMost(Duration.ofSeconds(30)).until(() -> ran.get() == tasks);
        assertThat(threadsUsed).isEqualTo(512);
    }

    /** Nothing comes after it that could notice. */
    @Test
    void a_task_just_behind_one_that_blocks_is_run() throws InterruptedException {
        for (int i = 0; i < 50; i++) {
            CountDownLatch second = new CountDownLatch(1);
            CountDownLatch first = new CountDownLatch(1);
            threads.execute(() -> {
                try {
                    second.await();
                    first.countDown();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            threads.execute(second::countDown);
            assertThat(first.await(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void an_interrupt_stays_with_the_task_that_was_interrupted() {
        AtomicInteger interrupted = new AtomicInteger();
        AtomicInteger ran = new AtomicInteger();
        for (int i = 0; i < 1_000; i++) {
            threads.execute(() -> {
                if (Thread.currentThread().isInterrupted()) {
                    interrupted.incrementAndGet();
                }
                ran.incrementAndGet();
                Thread.currentThread().interrupt();
            });
        }
        await().until(() -> ran.get() == 1_000);
        assertThat(interrupted).hasValue(0);
    }

    @Test
    void no_thread_stays_after_the_end_but_late_tasks_are_run() throws InterruptedException {
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        CountDownLatch ran = new CountDownLatch(1);
        threads.execute(() -> used.add(Thread.currentThread()));
        threads.close();
        threads.execute(() -> {
            used.add(Thread.currentThread());
            ran.countDown();
        });
        assertThat(ran.await(10, TimeUnit.SECONDS)).isTrue();
        // Idle ones would stay for ten seconds.
        await().atMost(Duration.ofSeconds(5)).until(() -> used.stream().noneMatch(Thread::isAlive));
    }
}
