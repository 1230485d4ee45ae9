package io.holdfast.zookeeper;

import io.holdfast.memory.VirtualTime;
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

    SmallEnsemble(int sessionMillis) {
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
        return store.acquire(new AcquireRequest("a", holderId, 60_000, true, 1_000))
                .toCompletableFuture();
    }

    void elapse(long millis) {
        world.advance(Duration.ofMillis(millis));
    }
}
