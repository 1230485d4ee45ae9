package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.lang.ref.WeakReference;
import org.junit.jupiter.api.Test;

/** Rule 13 for what is remembered of locks that threads lost and never unlocked. */
class LostHoldsTest {

    private final LostHolds lost = new LostHolds();

    @Test
    void keeps_no_thread_reachable() throws InterruptedException {
        WeakReference<Thread> thread = dead();
        await().until(() -> {
            System.gc();
            return thread.refersTo(null);
        });
    }

    @Test
    void remembers_the_last_few_names_of_a_thread() {
        for (int i = 0; i < 100; i++) {
            lost.add(Thread.currentThread(), "n" + i, new LeaseUser.Holds());
        }

        assertThat(lost.unlockBy(Thread.currentThread(), "n0")).isNull();
        assertThat(lost.unlockBy(Thread.currentThread(), "n99")).isNotNull();
        assertThat(lost.unlockBy(Thread.currentThread(), "n99")).isNull();
    }

    private WeakReference<Thread> dead() throws InterruptedException {
        Thread thread = new Thread(() -> {});
        lost.add(thread, "a", new LeaseUser.Holds());
        thread.start();
        thread.join();
        return new WeakReference<>(thread);
    }
}
