package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ReleaseRequest;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * A leader that is paused asks its followers nothing meanwhile, and ends sessions by its clock as soon as it goes on: after, or before,
 * it has taken the writes that wait in its sockets.
 */
class PausedLeaderTest {

    private static final int SESSION_MILLIS = 400;

    /**
     * Seeds 329901 and 702114 of short histories: a node was made just before its session was ended, and a lease was promised as if
     * the leader had heard of the contacts during its pause.
     */
    @Test
    void a_lease_is_not_promised_for_longer_than_the_session_lives() {
        int granted = 0;
        int ended = 0;
        for (int shift = 0; shift < 130; shift += 10) {
            for (int pause = 260; pause < SESSION_MILLIS; pause += 10) {
                for (int before = 30; before < 100; before += 15) {
                    Play play = new Play();
                    granted += play.run(shift, pause, before) ? 1 : 0;
                    ended += play.expired.isEmpty() ? 0 : 1;
                }
            }
        }
        assertThat(granted).isGreaterThan(100);
        assertThat(ended).isGreaterThan(50);
    }

    private static final class Play {
        private final VirtualTime world = new VirtualTime();
        private final Map<Long, Long> expired = new HashMap<>();
        private final SimEnsemble ensemble = new SimEnsemble(
                world,
                new SplittableRandom(1),
                new SimEnsemble.Shape(3, 100, SESSION_MILLIS, 1_000_000, 500_000, 0, 0, 5_000_000_000L));

        Play() {
            ensemble.onExpiry(session -> expired.put(session, world.nanoTime()));
        }

        /** False if there was no grant. */
        boolean run(int shiftMillis, int pauseMillis, int beforeMillis) {
            SimClient client = connectToAFollower();
            // So that there is a folder, and one write is enough.
            CompletableFuture<?> first = ask(client, "c:1");
            elapse(50 + shiftMillis);
            assertThat(first).isCompletedWithValueMatching(Granted.class::isInstance);
            client.store().release(new ReleaseRequest("a", "c:1", null));
            elapse(350 + shiftMillis);
            ensemble.stop(ensemble.leader(), pauseMillis * 1_000_000L);
            elapse(pauseMillis - beforeMillis);
            long session = client.sessionId();
            long asked = world.nanoTime();
            CompletableFuture<?> answer = ask(client, "c:2");
            while (!answer.isDone()) {
                world.runNext();
            }
            // What comes behind the answer does not reach it any more.
            ensemble.cutOff(client, Duration.ofSeconds(5).toNanos());
            if (answer.isCompletedExceptionally() || client.sessionId() != session) {
                return false;
            }
            Granted granted = (Granted) answer.join();
            elapse(2_000);
            // What is left of it when one per cent and 2 ms are taken off, as the engine does.
            long promised = granted.atMostMillis() * 990_000 - 2_000_000;
            assertThat(expired.getOrDefault(session, Long.MAX_VALUE))
                    .as(
                            "paused for %d ms, after %d ms, asked %d ms before its end",
                            pauseMillis, shiftMillis, beforeMillis)
                    .isGreaterThanOrEqualTo(asked + promised);
            return true;
        }

        private SimClient connectToAFollower() {
            while (true) {
                SimClient client = ensemble.connect("c", world, Runnable::run, 5_000, EnsembleBug.NONE);
                while (!client.isOpen()) {
                    world.runNext();
                }
                if (client.server() != ensemble.leader()) {
                    return client;
                }
                client.die(false);
            }
        }

        private static CompletableFuture<?> ask(SimClient client, String holderId) {
            return client.store()
                    .acquire(new AcquireRequest("a", holderId, 60_000, true, 1_000))
                    .toCompletableFuture();
        }

        private void elapse(long millis) {
            world.advance(Duration.ofMillis(millis));
        }
    }
}
