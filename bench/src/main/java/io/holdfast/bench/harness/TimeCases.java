package io.holdfast.bench.harness;

import io.holdfast.bench.agent.Clock;
import io.holdfast.bench.agent.Message;
import io.holdfast.bench.peer.Peer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Cases about time: traffic after the last release, expiry after a crash, and many thousands of threads.
 */
final class TimeCases {

    /** One thread, beside plain Lettuce and Redisson. */
    static final Case COLD = new Cold("cold", List.of("holdfast", "lettuce", "redisson"), 1);

    /** Many threads, beside what they do without the engine. */
    static final Case YOUNG = new Cold("young", List.of("holdfast", "lettuce", "lettuce-scripts"), 64);

    private TimeCases() {}

    /** 2,000 pairs a second on 100 names, and then none; the size is the rate. */
    static final class Churn implements Case {

        private static final Duration IDLE_MIN = Duration.ofSeconds(11);

        @Override
        public String id() {
            return "churn";
        }

        @Override
        public List<String> peers(Profile profile) {
            return profile.isShort() ? List.of("holdfast") : List.of("holdfast", "redisson");
        }

        @Override
        public List<Integer> sizes(Profile profile) {
            return List.of(2_000);
        }

        @Override
        public int rounds(Profile profile) {
            return 1;
        }

        @Override
        public Map<String, Double> measure(Bench bench, String peer, int size) throws Exception {
            List<AgentProcess> used = bench.open(peer, 1, Bench.LEASE);
            Message order = Message.of("count").with("name", bench.freshName());
            used.get(0).send(order.with("pairs", 20));
            bench.await(used);
            bench.meter().start();
            Duration time = bench.profile().churn();
            used.get(0)
                    .send(Message.of("churn")
                            .with("rate", size)
                            .with("name", bench.freshName())
                            .with("to", System.nanoTime() + time.toNanos()));
            double pairs = Bench.sum(bench.await(used), "acquisitions");
            ServerMeter.Load busy = bench.meter().stop();
            bench.meter().start();
            // A renewal comes every 10 s, so renewals of the last pairs would come in this time.
            Clock.sleepUntil(System.nanoTime() + Math.max(IDLE_MIN.toNanos(), time.toNanos() / 3));
            ServerMeter.Load idle = bench.meter().stop();
            bench.close(used);
            double seconds = time.toNanos() / 1e9;
            return Map.of(
                    "rate", pairs / seconds,
                    "extraPerSecond", (scripts(busy) - 2 * pairs) / seconds,
                    "idleScripts", scripts(idle));
        }

        private static double scripts(ServerMeter.Load load) {
            return load.commands().getOrDefault("evalsha", 0L) + load.commands().getOrDefault("eval", 0L);
        }
    }

    /**
     * A JVM that was never warm: its first pair, and what it does in its first ten seconds; the size is the number of
     * threads.
     */
    record Cold(String id, List<String> measured, int threads) implements Case {

        @Override
        public List<String> peers(Profile profile) {
            return measured;
        }

        @Override
        public List<Integer> sizes(Profile profile) {
            return List.of(threads);
        }

        @Override
        public int rounds(Profile profile) {
            return profile.isShort() ? profile.rounds() : Math.max(3, profile.rounds());
        }

        @Override
        public Map<String, Double> measure(Bench bench, String peer, int size) throws Exception {
            bench.forget(peer);
            long began = System.nanoTime();
            List<AgentProcess> used = bench.open(peer, 1, Bench.LEASE);
            used.get(0)
                    .send(Message.of("cold")
                            .with("name", bench.freshName())
                            .with("threads", size)
                            .with("began", began)
                            .with("seconds", bench.profile().name().equals("smoke") ? 1 : 10));
            Message answer = bench.await(used).get(0);
            bench.forget(peer);
            Map<String, Double> figures = new LinkedHashMap<>();
            for (String figure : List.of("firstMs", "in1s", "in3s", "in10s")) {
                figures.put(figure, Double.valueOf(answer.text(figure)));
            }
            return figures;
        }
    }

    /** A process that holds ten names is killed while another waits for each of them. */
    static final class Killed implements Case {

        private static final Duration LEASE = Duration.ofSeconds(2);

        @Override
        public String id() {
            return "killed";
        }

        @Override
        public List<String> peers(Profile profile) {
            return PairCases.with(List.of("holdfast", "redisson", "lettuce"), profile).stream()
                    .filter(peer -> !peer.equals("lock4j"))
                    .toList();
        }

        @Override
        public List<Integer> sizes(Profile profile) {
            return List.of(10);
        }

        @Override
        public Map<String, Double> measure(Bench bench, String peer, int size) throws Exception {
            String name = bench.freshName();
            List<AgentProcess> used = bench.open(peer, 2, LEASE);
            AgentProcess holder = used.get(0);
            AgentProcess waiter = used.get(1);
            warmUp(bench, peer, waiter, size);
            Message order = Message.of("take").with("name", name).with("names", size);
            holder.send(order.with("keep", true));
            bench.await(List.of(holder));
            waiter.send(order);
            Clock.sleepUntil(System.nanoTime() + 300_000_000);
            holder.kill();
            List<Double> expiries = new ArrayList<>();
            for (int i = 0; i < size; i++) {
                String key = Peer.of(peer).key(name + "-" + i);
                String left = bench.meter().call("PTTL", key);
                expiries.add(System.currentTimeMillis() + Double.parseDouble(left));
            }
            Message granted = bench.await(List.of(waiter)).get(0);
            bench.forget(peer);
            List<Double> late = new ArrayList<>();
            for (int i = 0; i < size; i++) {
                late.add(Double.parseDouble(granted.text("at" + i)) - expiries.get(i));
            }
            Collections.sort(late);
            return Map.of("lateP50Ms", (late.get(4) + late.get(5)) / 2, "lateMaxMs", late.get(size - 1));
        }

        /**
         * Warms up the waiter with names that another client lets expire: in practice a waiting process has run for
         * hours and not for a second.
         */
        private static void warmUp(Bench bench, String peer, AgentProcess waiter, int size) throws Exception {
            boolean hashes = peer.startsWith("holdfast") || peer.startsWith("redisson");
            for (int round = 0; round < (bench.profile().isShort() ? 10 : 40); round++) {
                String name = bench.freshName();
                for (int i = 0; i < size; i++) {
                    String key = Peer.of(peer).key(name + "-" + i);
                    if (hashes) {
                        bench.meter().call("HSET", key, "stranger:1", "1");
                        bench.meter().call("PEXPIRE", key, "100");
                    } else {
                        bench.meter().call("SET", key, "stranger", "PX", "100");
                    }
                }
                waiter.send(Message.of("take").with("name", name).with("names", size));
                bench.await(List.of(waiter));
            }
        }
    }

    /** One pair by each of 10,000 virtual threads on 100 names; the size is the number of threads. */
    static final class VirtualThreads implements Case {

        private static final int LIMIT_SECONDS = 45;

        @Override
        public String id() {
            return "virtual-threads";
        }

        @Override
        public List<String> peers(Profile profile) {
            return PairCases.with(List.of("holdfast", "redisson", "spring-spin"), profile).stream()
                    .filter(peer -> !peer.equals("lock4j"))
                    .toList();
        }

        /** Returns no size on a Java without virtual threads. */
        @Override
        public List<Integer> sizes(Profile profile) {
            return Runtime.version().feature() >= 21 ? List.of(10_000) : List.of();
        }

        @Override
        public int rounds(Profile profile) {
            return Math.min(3, profile.rounds());
        }

        @Override
        public Map<String, Double> measure(Bench bench, String peer, int size) throws Exception {
            List<AgentProcess> used = bench.open(peer, 1, Bench.LEASE);
            bench.meter().start();
            used.get(0)
                    .send(Message.of("virtual")
                            .with("threads", size)
                            .with("names", 100)
                            .with("name", bench.freshName())
                            .with("limit", LIMIT_SECONDS));
            Message answer = bench.await(used).get(0);
            ServerMeter.Load load = bench.meter().stop();
            // Threads that still wait would disturb the next round.
            bench.forget(peer);
            return Map.of(
                    "seconds", Double.valueOf(answer.text("seconds")),
                    "completed", Double.valueOf(answer.text("completed")),
                    "commands", Peer.of(peer).onTheWire(load.commands()) / size,
                    "violations", Double.valueOf(answer.text("violations")));
        }
    }
}
