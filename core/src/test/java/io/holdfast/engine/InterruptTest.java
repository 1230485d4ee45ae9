package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rules 6 and 8: an interrupt that meets a grant. */
@Timeout(60)
class InterruptTest extends EngineFixture {

    @Test
    void an_interrupt_that_comes_after_the_grant_leaves_the_lease_and_the_flag() throws Exception {
        Thread[] waiting = new Thread[1];
        LockListener interrupting = new LockListener() {
            @Override
            public void released(String name, long fencingToken, Duration held) {
                // The lock is handed on already; the one that waits has not been told yet.
                Thread thread = waiting[0];
                if (thread != null) {
                    waiting[0] = null;
                    thread.interrupt();
                    while (thread.isInterrupted() || thread.getState() == Thread.State.RUNNABLE) {
                        Thread.onSpinWait();
                    }
                }
            }
        };
        LockClient heard = client("heard", probe("heard"), settings -> settings.listeners = List.of(interrupting));
        Lease first = now(acquire(heard, "a"));
        FutureTask<Boolean> second = new FutureTask<>(() -> {
            Lease lease = heard.acquire("a", DEFAULTS.fair());
            boolean flag = Thread.interrupted();
            lease.release();
            return flag;
        });
        Thread thread = new Thread(second);
        thread.start();
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        waiting[0] = thread;
        first.release();

        assertThat(second.get()).isTrue();
    }
}
