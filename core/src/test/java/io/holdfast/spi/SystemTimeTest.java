package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SystemTimeTest {

    private final SystemTime time = new SystemTime();

    @Test
    void tasks_run_in_the_order_of_their_times() {
        List<String> ran = new CopyOnWriteArrayList<>();
        time.schedule(millis(300), () -> ran.add("last"));
        time.schedule(millis(100), () -> ran.add("first"));
        time.schedule(millis(200), () -> {
            ran.add("second");
            time.schedule(-1, () -> ran.add("from a task"));
        });
        await().untilAsserted(() -> assertThat(ran).containsExactly("first", "second", "from a task", "last"));
    }

    @Test
    void a_cancelled_task_does_not_run_and_a_failing_one_harms_no_other() {
        List<String> ran = new CopyOnWriteArrayList<>();
        TimeSource.Timer cancelled = time.schedule(millis(50), () -> ran.add("cancelled"));
        time.schedule(Long.MAX_VALUE, () -> ran.add("never"));
        time.schedule(millis(100), () -> {
            throw new IllegalStateException("thrown by the test");
        });
        time.schedule(millis(200), () -> ran.add("last"));
        cancelled.cancel();
        await().untilAsserted(() -> assertThat(ran).containsExactly("last"));
        cancelled.cancel();
    }

    /** Each acquisition sets timers and cancels them. Waking a thread for each would cost more than the timer itself. */
    @Test
    void a_timer_that_is_set_and_cancelled_again_and_again_wakes_the_thread_seldom() {
        CompletableFuture<Thread> asked = new CompletableFuture<>();
        time.schedule(0, () -> asked.complete(Thread.currentThread()));
        long thread = asked.join().getId();
        time.schedule(millis(60_000), () -> {});
        long before = waits(thread);
        for (int i = 0; i < 400; i++) {
            TimeSource.Timer timer = time.schedule(millis(20_000), () -> {});
            LockSupport.parkNanos(millis(1) / 2);
            timer.cancel();
        }
        assertThat(waits(thread) - before).isLessThan(100);
    }

    private static long waits(long thread) {
        return ManagementFactory.getThreadMXBean().getThreadInfo(thread).getWaitedCount();
    }

    @Test
    void the_thread_ends_after_the_last_timer() {
        CompletableFuture<Thread> asked = new CompletableFuture<>();
        time.schedule(0, () -> asked.complete(Thread.currentThread()));
        time.schedule(millis(60_000), () -> {}).cancel();
        await().atMost(30, TimeUnit.SECONDS).until(() -> !asked.join().isAlive());
    }

    private static long millis(long millis) {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }
}
