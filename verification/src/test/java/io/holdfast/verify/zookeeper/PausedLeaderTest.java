package io.holdfast.verify.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.ReleaseRequest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * A leader that is paused asks its followers nothing during that time, and ends sessions by its clock as soon as it
 * continues: after, or before, it has taken the writes that wait in its sockets.
 */
class PausedLeaderTest {

    private static final int SESSION_MILLIS = 400;

    /**
     * Seeds 329901 and 702114 of short histories: a node was made just before its session was ended, and a lease was
     * promised as if the leader had heard of the contacts during its pause.
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
                    ended += play.ensemble.expired.isEmpty() ? 0 : 1;
                }
            }
        }
        assertThat(granted).isGreaterThan(100);
        assertThat(ended).isGreaterThan(50);
    }

    private static final class Play {
        private final SmallEnsemble ensemble = new SmallEnsemble(SESSION_MILLIS);

        /** False if there was no grant. */
        boolean run(int shiftMillis, int pauseMillis, int beforeMillis) {
            SimClient client = ensemble.connectToAFollower("c", ensemble.world, Runnable::run);
            // So that there is a folder, and one write is enough.
            CompletableFuture<?> first = SmallEnsemble.ask(client.store(), "c:1");
            ensemble.elapse(50 + shiftMillis);
            assertThat(first).isCompletedWithValueMatching(Granted.class::isInstance);
            client.store().release(ReleaseRequest.of("a", "c:1"));
            ensemble.elapse(350 + shiftMillis);
            ensemble.servers.stop(ensemble.servers.leader(), pauseMillis * 1_000_000L);
            ensemble.elapse(pauseMillis - beforeMillis);
            long session = client.sessionId();
            long asked = ensemble.world.nanoTime();
            CompletableFuture<?> answer = SmallEnsemble.ask(client.store(), "c:2");
            while (!answer.isDone()) {
                ensemble.world.runNext();
            }
            // What comes behind the answer does not reach it any more.
            ensemble.servers.cutOff(client, Duration.ofSeconds(5).toNanos());
            if (answer.isCompletedExceptionally() || client.sessionId() != session) {
                return false;
            }
            Granted granted = (Granted) answer.join();
            ensemble.elapse(2_000);
            // What is left of it when one per cent and 2 ms are taken off, as the engine does.
            long promised = granted.atMostMillis() * 990_000 - 2_000_000;
            assertThat(ensemble.expired.getOrDefault(session, Long.MAX_VALUE))
                    .as(
                            "paused for %d ms, after %d ms, asked %d ms before its end",
                            pauseMillis, shiftMillis, beforeMillis)
                    .isGreaterThanOrEqualTo(asked + promised);
            return true;
        }
    }
}
