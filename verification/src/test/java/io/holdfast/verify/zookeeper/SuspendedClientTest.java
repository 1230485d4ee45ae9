package io.holdfast.verify.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A client whose machine is suspended: its monotonic clock stands still, and with it all its timers, so that none comes
 * late. Its wall clock continues, and so does the leader's count of its session.
 */
@Tag("deep") // quick: PausedClientTest
class SuspendedClientTest {

    private static final int SESSION_MILLIS = 400;

    @Test
    void a_lease_after_a_suspension_is_not_promised_for_longer_than_the_session_lives() {
        int granted = 0;
        for (int before = 5; before < 300; before += 15) {
            for (int suspended = 40; suspended < SESSION_MILLIS; suspended += 20) {
                for (int after = 0; after < 140; after += 30) {
                    granted += new Play().run(before, suspended, after) ? 1 : 0;
                }
            }
        }
        // In the others the session was over before there was a grant.
        assertThat(granted).isGreaterThan(500);
    }

    private static final class Play {
        private final SmallEnsemble ensemble = new SmallEnsemble(SESSION_MILLIS);
        private final SuspendableTime clock = new SuspendableTime(ensemble.world);

        /** False if the session was over before there was a grant. */
        boolean run(int beforeMillis, int suspendedMillis, int afterMillis) {
            SimClient client = ensemble.connectToAFollower("c", clock, clock::deliver);
            CompletableFuture<?> first = SmallEnsemble.ask(client.store(), "c:1");
            ensemble.elapse(50);
            assertThat(first).isCompletedWithValueMatching(Granted.class::isInstance);
            // The last that the leader receives from it for a while, but for pings.
            client.store().release(ReleaseRequest.of("a", "c:1"));
            ensemble.elapse(beforeMillis);
            clock.suspend(suspendedMillis);
            ensemble.elapse(suspendedMillis + afterMillis);
            return ensemble.grantsWithinTheSession(
                    client,
                    "c:2",
                    "suspended for %d ms, after %d ms, asked %d ms later"
                            .formatted(suspendedMillis, beforeMillis, afterMillis));
        }
    }

    /** The time of a machine that is suspended once. */
    private static final class SuspendableTime implements TimeSource {
        private final VirtualTime world;
        private long fromNanos = Long.MAX_VALUE;
        private long lengthNanos;

        SuspendableTime(VirtualTime world) {
            this.world = world;
        }

        /** From now on. */
        void suspend(long millis) {
            fromNanos = world.nanoTime();
            lengthNanos = millis * 1_000_000;
        }

        /** What reaches it in the meantime waits in the socket. */
        void deliver(Runnable task) {
            long now = world.nanoTime();
            if (now >= fromNanos && now < fromNanos + lengthNanos) {
                world.schedule(fromNanos + lengthNanos - now, task);
            } else {
                task.run();
            }
        }

        @Override
        public long nanoTime() {
            long now = world.nanoTime();
            return now <= fromNanos ? now : Math.max(fromNanos, now - lengthNanos);
        }

        @Override
        public long wallMillis() {
            return world.wallMillis();
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            SuspendableTimer timer = new SuspendableTimer(nanoTime() + Math.max(0, delayNanos), task);
            timer.arm();
            return timer;
        }

        /** Due by the monotonic clock. */
        private final class SuspendableTimer implements Timer, Runnable {
            private final long dueNanos;
            private final Runnable task;
            private boolean cancelled;

            SuspendableTimer(long dueNanos, Runnable task) {
                this.dueNanos = dueNanos;
                this.task = task;
            }

            void arm() {
                world.schedule(dueNanos - nanoTime(), this);
            }

            @Override
            public void run() {
                if (cancelled) {
                    return;
                }
                long now = world.nanoTime();
                if (now < fromNanos + lengthNanos && now >= fromNanos) {
                    world.schedule(fromNanos + lengthNanos - now, this);
                } else if (nanoTime() < dueNanos) {
                    arm();
                } else {
                    task.run();
                }
            }

            @Override
            public void cancel() {
                cancelled = true;
            }
        }
    }
}
