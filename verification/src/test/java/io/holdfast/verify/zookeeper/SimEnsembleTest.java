package io.holdfast.verify.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SimEnsembleTest {

    private final VirtualTime time = new VirtualTime();
    private final SimEnsemble ensemble = new SimEnsemble(
            time,
            new SplittableRandom(1),
            new SimEnsemble.Shape(3, 100, 400, 1_000_000, 500_000, 0, 0, 5_000_000_000L));

    /**
     * Seeds 1013, 3397, 5307 and 7925 had two valid leases because it did not: it took writes and ended sessions, but
     * asked no follower whom it had heard of until the time at which the stop would have ended.
     */
    @Test
    void a_stopped_leader_does_everything_again_when_all_is_well() {
        List<Long> expired = new ArrayList<>();
        ensemble.onExpiry(expired::add);
        SimClient client = connectToAFollower();
        long session = client.sessionId();
        ensemble.stop(ensemble.leader(), Duration.ofSeconds(3).toNanos());
        time.advance(Duration.ofMillis(120));
        ensemble.heal();
        time.advance(Duration.ofSeconds(2));
        assertThat(expired).isEmpty();
        assertThat(client.sessionId()).isEqualTo(session);
    }

    private SimClient connectToAFollower() {
        for (int i = 0; ; i++) {
            SimClient client = ensemble.connect("c" + i, time, Runnable::run, 500, EnsembleBug.NONE);
            while (!client.isOpen()) {
                time.runNext();
            }
            if (client.server() != ensemble.leader()) {
                return client;
            }
        }
    }
}
