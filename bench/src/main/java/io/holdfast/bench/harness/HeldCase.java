package io.holdfast.bench.harness;

import io.holdfast.bench.agent.Clock;
import io.holdfast.bench.agent.Message;
import io.holdfast.bench.peer.Peer;
import io.holdfast.testkit.servers.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Many names held with a short lease; the size is their number. The figures are some percent of a processor, and the
 * speed of a shared machine changes by more than that from minute to minute. So the peers hold at the same time, each
 * at a server of its own, and a ratio compares the same seconds.
 */
record HeldCase(String id) implements Case {

    /** Locks. */
    static final HeldCase LOCKS = new HeldCase("held");

    /** Permits, all of one pool, beside locks. */
    static final HeldCase PERMITS = new HeldCase("permits-held");

    private static final Duration LEASE = Duration.ofSeconds(3);

    @Override
    public List<String> peers(Profile profile) {
        if (this.equals(PERMITS)) {
            return List.of("holdfast", "holdfast-permits");
        }
        return profile.isShort()
                ? List.of("holdfast", "lettuce-scripts", "redisson")
                : List.of("holdfast", "lettuce-scripts", "redisson", "spring-renewing");
    }

    @Override
    public List<Integer> sizes(Profile profile) {
        return List.of(profile.held());
    }

    @Override
    public int rounds(Profile profile) {
        return profile.isShort() ? profile.rounds() : Math.max(3, profile.rounds());
    }

    @Override
    public boolean isTogether() {
        return true;
    }

    @Override
    public Map<String, Double> measure(Bench bench, String peer, int size) throws Exception {
        return Objects.requireNonNull(
                measureTogether(bench, List.of(peer), size).get(peer));
    }

    @Override
    public Map<String, Map<String, Double>> measureTogether(Bench bench, List<String> peers, int size)
            throws Exception {
        List<Holder> holders = new ArrayList<>();
        try {
            for (String peer : peers) {
                holders.add(new Holder(bench, peer, size));
            }
            for (Holder holder : holders) {
                holder.take();
            }
            // Locks are held for long, so the figure is the cost of renewals by warm code. Some peers' code is compiled
            // for most of a minute, at five times the cost.
            boolean isShort = bench.profile().isShort();
            long from = System.nanoTime() + LEASE.multipliedBy(isShort ? 1 : 20).toNanos();
            long to = from + LEASE.multipliedBy(isShort ? 4 : 12).dividedBy(3).toNanos();
            for (Holder holder : holders) {
                holder.watch(from, to);
            }
            Clock.sleepUntil(from);
            for (Holder holder : holders) {
                holder.start();
            }
            Clock.sleepUntil(to);
            for (Holder holder : holders) {
                holder.stop();
            }
            Map<String, Map<String, Double>> figures = new LinkedHashMap<>();
            for (Holder holder : holders) {
                figures.put(holder.peer, holder.end(to - from));
            }
            return figures;
        } finally {
            for (Holder holder : holders) {
                holder.close();
            }
        }
    }

    /** A peer's child, which holds the names, and its server. */
    private static final class Holder {

        final String peer;
        private final Bench bench;
        private final int size;
        private final RedisServer server;
        private final ServerMeter meter;
        private final AgentProcess agent;
        private final Message order;
        private final Map<String, Double> figures = new LinkedHashMap<>();
        private long startedNanos;

        Holder(Bench bench, String peer, int size) throws IOException, InterruptedException {
            this.bench = bench;
            this.peer = peer;
            this.size = size;
            this.server = bench.startServer();
            this.meter = new ServerMeter(server);
            this.agent = bench.open(peer, server, LEASE);
            this.order = Message.of("hold")
                    .with("names", size)
                    .with("name", bench.freshName())
                    .with("lease", LEASE.toNanos());
        }

        void take() throws IOException, InterruptedException {
            double before = meter.usedMemory();
            agent.send(order.with("phase", "take"));
            figures.put("heapPerLock", Double.valueOf(answer().text("heapPerLock")));
            figures.put("serverBytesPerLock", (meter.usedMemory() - before) / size);
        }

        void watch(long from, long to) {
            agent.send(order.with("phase", "watch").with("from", from).with("to", to));
        }

        void start() throws IOException {
            meter.start();
            startedNanos = System.nanoTime();
        }

        void stop() throws IOException {
            ServerMeter.Load load = meter.stop();
            // The real length, because a busy machine wakes this thread late.
            double renewals = 3.0 * (System.nanoTime() - startedNanos) / LEASE.toNanos();
            figures.put("commandsPerPeriod", Peer.of(peer).onTheWire(load.commands()) / renewals);
            figures.put("bytesInPerPeriod", load.bytesIn() / renewals);
            figures.put("serverCpuPercent", 100 * load.cpuMicros() * 1e3 / (renewals * LEASE.toNanos() / 3));
        }

        /** Returns all figures, and ends the holds. */
        Map<String, Double> end(long windowNanos) throws InterruptedException {
            figures.put("clientCpuPercent", 100 * Double.parseDouble(answer().text("cpuNs")) / windowNanos);
            agent.send(order.with("phase", "give"));
            figures.put("lost", Double.valueOf(answer().text("lost")));
            return figures;
        }

        private Message answer() throws InterruptedException {
            return bench.await(List.of(agent)).get(0);
        }

        void close() {
            bench.forget(peer);
            meter.close();
            server.close();
        }
    }
}
