package io.holdfast.verify.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * A waiter that is paused, and gets the lock in the meantime. What tells it so waits in its socket; for that reason its
 * connection stands after the pause, however long that was.
 */
class PausedClientTest {

    private static final int SESSION_MILLIS = 400;

    /**
     * Seed 5797 of short histories: after a pause of 330 ms of a session of 400 ms a lease was promised for 100 ms, as
     * if pings had been sent all the time, and the session was over 45 ms after that.
     */
    @Test
    void a_lease_after_a_pause_is_not_promised_for_longer_than_the_session_lives() {
        int granted = 0;
        for (int phase = 0; phase < 140; phase += 20) {
            for (int pause = 200; pause < SESSION_MILLIS; pause += 20) {
                granted += new Play().run(phase, pause) ? 1 : 0;
            }
        }
        // In the others the session was over before the waiter went on.
        assertThat(granted).isGreaterThan(20);
    }

    private static final class Play {
        private final SmallEnsemble ensemble = new SmallEnsemble(SESSION_MILLIS);
        private final PausableTime paused = new PausableTime(ensemble.world);

        /** False if the session was over before there was a grant. */
        boolean run(int phaseMillis, int pauseMillis) {
            LockStore holder =
                    ensemble.connect("c1", ensemble.world, Runnable::run).store();
            SimClient client = ensemble.connectToAFollower("c2", paused, paused::deliver);
            LockStore waiter = client.store();
            CompletableFuture<?> held = SmallEnsemble.ask(holder, "c1:1");
            ensemble.elapse(50);
            assertThat(held).isCompletedWithValueMatching(Granted.class::isInstance);
            CompletableFuture<?> queued = SmallEnsemble.ask(waiter, "c2:1");
            ensemble.elapse(1_000 + phaseMillis);
            assertThat(queued).isCompletedWithValueMatching(Busy.class::isInstance);
            paused.pause(pauseMillis);
            CompletableFuture<?> released =
                    holder.release(ReleaseRequest.of("a", "c1:1")).toCompletableFuture();
            ensemble.elapse(pauseMillis + 8);
            assertThat(released).isCompleted();
            return ensemble.grantsWithinTheSession(
                    client, "c2:1", "paused for %d ms, after %d ms".formatted(pauseMillis, phaseMillis));
        }
    }

    /** The time of a process that stands still now and then; what should happen meanwhile happens after that. */
    private static final class PausableTime implements TimeSource {
        private final VirtualTime world;
        private long untilNanos;

        PausableTime(VirtualTime world) {
            this.world = world;
            untilNanos = world.nanoTime();
        }

        void pause(long millis) {
            untilNanos = world.nanoTime() + millis * 1_000_000;
        }

        void deliver(Runnable task) {
            long left = untilNanos - world.nanoTime();
            if (left > 0) {
                world.schedule(left, () -> deliver(task));
            } else {
                task.run();
            }
        }

        @Override
        public long nanoTime() {
            return world.nanoTime();
        }

        @Override
        public long wallMillis() {
            return world.wallMillis();
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            return world.schedule(delayNanos, () -> deliver(task));
        }
    }
}
