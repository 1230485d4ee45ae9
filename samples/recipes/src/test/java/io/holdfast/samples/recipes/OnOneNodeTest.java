package io.holdfast.samples.recipes;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class OnOneNodeTest {

    @Test
    void one_node_runs_the_job_and_the_others_do_not_wait() throws Exception {
        assertThat(runs(Fleet.of(5))).isEqualTo(1);
    }

    @Test
    void without_the_lock_every_node_runs_the_job() throws Exception {
        assertThat(runs(Fleet.withoutCommonStore(5))).isEqualTo(5);
    }

    @Test
    void the_next_tick_runs_the_job_again() {
        try (Fleet fleet = Fleet.of(2)) {
            assertThat(new OnOneNode(fleet.node(0), () -> {}).tick()).isTrue();
            assertThat(new OnOneNode(fleet.node(1), () -> {}).tick()).isTrue();
        }
    }

    private static int runs(Fleet fleet) throws Exception {
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch ticks = new CountDownLatch(5);
        try (fleet) {
            fleet.all((locks, node) -> {
                boolean ran = new OnOneNode(locks, () -> {
                            runs.incrementAndGet();
                            ticks.countDown();
                            awaitAll(ticks);
                        })
                        .tick();
                if (!ran) {
                    ticks.countDown();
                }
                return ran;
            });
        }
        return runs.get();
    }

    /** Returns when every node has begun the job, or has been refused. */
    private static void awaitAll(CountDownLatch ticks) {
        try {
            assertThat(ticks.await(10, SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
