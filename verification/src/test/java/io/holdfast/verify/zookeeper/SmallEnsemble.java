package io.holdfast.verify.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Three servers with a good network, and when they ended sessions: for plays in which one thing goes wrong. */
final class SmallEnsemble {

    final VirtualTime world = new VirtualTime();
    final SimEnsemble servers;

    /** By session: when its time had passed. */
    final Map<Long, Long> expired = new HashMap<>();

    private final int sessionMillis;

    SmallEnsemble(int sessionMillis) {
        this.sessionMillis = sessionMillis;
        servers = new SimEnsemble(
                world,
                new SplittableRandom(1),
                new SimEnsemble.Shape(3, 100, sessionMillis, 1_000_000, 500_000, 0, 0, 5_000_000_000L));
        servers.onExpiry(session -> expired.put(session, world.nanoTime()));
    }

    SimClient connect(String processId, TimeSource time, Consumer<Runnable> delivery) {
        SimClient client = servers.connect(processId, time, delivery, 5_000, EnsembleBug.NONE);
        while (!client.isOpen()) {
            world.runNext();
        }
        return client;
    }

    /** The leader would know of each contact at once. */
    SimClient connectToAFollower(String processId, TimeSource time, Consumer<Runnable> delivery) {
        while (true) {
            SimClient client = connect(processId, time, delivery);
            if (client.server() != servers.leader()) {
                return client;
            }
            client.die(false);
        }
    }

    static CompletableFuture<?> ask(LockStore store, String holderId) {
        return store.acquire(AcquireRequest.queueing("a", holderId, 60_000, 1_000))
                .toCompletableFuture();
    }

    void elapse(long millis) {
        world.advance(Duration.ofMillis(millis));
    }

    /**
     * Asks for the lock, and then cuts the client off and lets its server die: its lease must not be promised for
     * longer than the leader lets the session live.
     *
     * @return false if the session was over before there was a grant
     */
    boolean grantsWithinTheSession(SimClient client, String holderId, String when) {
        long session = client.sessionId();
        long asked = world.nanoTime();
        CompletableFuture<?> answer = ask(client.store(), holderId);
        for (int i = 0; i < sessionMillis && !answer.isDone(); i++) {
            elapse(1);
        }
        if (expired.containsKey(session) || answer.isCompletedExceptionally()) {
            return false;
        }
        assertThat(answer).isCompletedWithValueMatching(Granted.class::isInstance);
        Granted granted = (Granted) answer.join();
        servers.cutOff(client, Duration.ofSeconds(5).toNanos());
        servers.crash(client.server(), Duration.ofSeconds(5).toNanos(), true);
        elapse(4_000);
        assertThat(expired).containsKey(session);
        // What is left of it when one per cent and 2 ms are taken off, as the engine does.
        long promised = granted.atMostMillis() * 990_000 - 2_000_000;
        assertThat(expired.get(session)).as(when).isGreaterThanOrEqualTo(asked + promised);
        return true;
    }
}
