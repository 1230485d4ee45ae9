package io.holdfast.verify.redis;

import io.holdfast.spi.HolderId;
import io.holdfast.spi.PushedGrant;
import io.holdfast.verify.engine.Simulation;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Somebody who may read everything on the server and publish to every client, but may not write there. All messages of
 * the store are forged, with chosen ids and tokens; only the nonces of grants must be guessed. Other requests are not
 * known to the forger, so nothing of this may be believed.
 *
 * <p>Half of the rough histories have one. Decides apart from all else, so that the other half is as without it.
 */
final class SimForger {

    private static final int MESSAGES = 100;
    private static final long BUSY_NANOS = 30_000_000_000L;

    private final Simulation simulation;
    private final SimServer server;
    private final SplittableRandom random;

    SimForger(Simulation simulation, SimServer server) {
        this.simulation = simulation;
        this.server = server;
        this.random = new SplittableRandom(simulation.seed ^ 0x666F72676572L);
    }

    void schedule() {
        for (int i = random.nextInt(2) * MESSAGES; i > 0; i--) {
            simulation.world.schedule(random.nextLong(BUSY_NANOS), this::forge);
        }
    }

    private void forge() {
        List<String> names = simulation.names();
        String name = names.get(random.nextInt(names.size()));
        NameModel seen = server.seen(name);
        List<String> waiting = seen.waiting();
        Map<String, Long> holds = seen.holds(server.now());
        String holder = holds.keySet().stream().findFirst().orElse(null);
        boolean toHolder = waiting.isEmpty() || random.nextInt(4) == 0;
        String id = toHolder ? holder : waiting.get(random.nextInt(waiting.size()));
        SimStore client = id == null || server.isDown() ? null : server.listening(HolderId.client(id));
        if (id == null || client == null) {
            return;
        }
        int kind = random.nextInt(8);
        simulation.recorder.log("the forger sends message %d about %s to %s", kind, name, id);
        switch (kind) {
            case 0 -> client.message(name, listener -> listener.granted(name, id));
            case 1 -> client.message(name, listener -> listener.contended(name, id));
            case 2 -> client.message(name, listener -> listener.forced(name, id));
            case 3 -> client.message(name, listener -> listener.released(name));
            default ->
                client.granted(
                        name,
                        grant(
                                name,
                                id,
                                holds.values().stream()
                                        .mapToLong(base -> base)
                                        .max()
                                        .orElse(0)));
        }
    }

    /** With a token that is larger than all others, for as long as anybody may ask for. */
    private PushedGrant grant(String name, String id, long base) {
        long nonce = random.nextInt(4) == 0 ? PushedGrant.NO_NONCE : random.nextLong() >>> 2;
        return new PushedGrant(name, id, base + 1 + random.nextInt(1_000), 0, 2_000, nonce, 0, PushedGrant.ALWAYS);
    }
}
