package io.holdfast.bench.harness;

import io.holdfast.bench.agent.Message;
import io.holdfast.bench.peer.Peer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** Cases of one process: pairs on names of their own, nested pairs, asynchronous ones, and one name for all threads. */
final class PairCases {

    private static final List<String> ALL =
            List.of("holdfast", "lettuce", "jedis", "lettuce-lean", "lettuce-scripts", "redisson", "spring-spin");

    private PairCases() {}

    static Message order(String name, int threads) {
        return Message.of("pairs")
                .with("threads", threads)
                .with("name", name)
                .with("section", 0)
                .with("journal", "");
    }

    static List<String> with(List<String> needed, Profile profile) {
        List<String> peers = new ArrayList<>(needed);
        peers.addAll(profile.rivals());
        return peers;
    }

    /** Lock and unlock of a name that no other thread uses. */
    static final Case UNCONTENDED = new OneProcess(
            "uncontended",
            profile -> profile.isShort()
                    ? List.of("holdfast", "lettuce", "lettuce-lean", "lettuce-scripts", "redisson")
                    : with(ALL, profile),
            profile -> List.of(1, 8, 64),
            order -> order.with("own", true));

    /** Lock and unlock by the thread that holds the lock already. */
    static final Case REENTRANT = new OneProcess(
            "reentrant",
            profile -> (profile.isShort()
                            ? List.of("holdfast", "redisson")
                            : with(List.of("holdfast", "redisson", "spring-spin"), profile))
                    .stream().filter(peer -> Peer.of(peer).isReentrant()).toList(),
            profile -> List.of(1),
            order -> order.with("nested", true));

    /** All threads compete for one name. */
    static final Case ONE_NAME = new OneProcess(
            "one-name",
            profile -> profile.isShort()
                    ? List.of("holdfast", "redisson", "spring-spin")
                    : with(List.of("holdfast", "redisson", "spring-spin", "lettuce"), profile),
            profile -> profile.isShort() ? List.of(64) : List.of(8, 64, 256),
            order -> order);

    /** All threads read under one read-write lock. */
    static final Case READERS = new OneProcess(
            "readers",
            profile -> List.of("holdfast-read", "redisson-read"),
            profile -> profile.isShort() ? List.of(64) : List.of(1, 8, 64),
            order -> order.with("most", order.count("threads")));

    /** Pairs by the threads of one process; the size is their number. */
    private record OneProcess(
            String id,
            Function<Profile, List<String>> peersOf,
            Function<Profile, List<Integer>> sizesOf,
            UnaryOperator<Message> orders)
            implements Case {

        @Override
        public List<String> peers(Profile profile) {
            return peersOf.apply(profile);
        }

        @Override
        public List<Integer> sizes(Profile profile) {
            return sizesOf.apply(profile);
        }

        @Override
        public Map<String, Double> measure(Bench bench, String peer, int size) throws Exception {
            List<AgentProcess> used = bench.open(peer, 1, Bench.LEASE);
            Message order = orders.apply(order(bench.freshName(), size));
            Bench.Observed observed = bench.window(peer, used, () -> List.of(order));
            bench.close(used);
            Map<String, Double> figures = new LinkedHashMap<>(observed.figures());
            Message answer = observed.answers().get(0);
            for (String figure : List.of("p50us", "p99us", "longestWaitMs", "least", "most")) {
                figures.put(figure, Double.valueOf(answer.text(figure)));
            }
            return figures;
        }
    }

    /** Chained asynchronous pairs on names of their own; the size is the number of chains. */
    static final class Async implements Case {

        @Override
        public String id() {
            return "async";
        }

        @Override
        public List<String> peers(Profile profile) {
            return with(List.of("holdfast", "lettuce", "lettuce-lean", "lettuce-scripts", "redisson"), profile).stream()
                    .filter(peer -> Peer.of(peer).isAsync())
                    .toList();
        }

        @Override
        public List<Integer> sizes(Profile profile) {
            return List.of(1_000);
        }

        @Override
        public Map<String, Double> measure(Bench bench, String peer, int size) throws Exception {
            List<AgentProcess> used = bench.open(peer, 1, Bench.LEASE);
            Message order = Message.of("async").with("flight", size).with("name", bench.freshName());
            Map<String, Double> figures =
                    bench.window(peer, used, () -> List.of(order)).figures();
            bench.close(used);
            return figures;
        }
    }

    /** Exactly 500 pairs, for exact counts; size 1 is plain, 2 is nested. */
    static final class Counted implements Case {

        private static final int PAIRS = 500;

        private static final List<String> QUICK_START =
                List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

        @Override
        public String id() {
            return "counted";
        }

        @Override
        public List<String> peers(Profile profile) {
            return with(ALL, profile);
        }

        @Override
        public List<Integer> sizes(Profile profile) {
            return List.of(1, 2);
        }

        /** Returns options for a quick start: no figure of this case depends on speed. */
        @Override
        public List<String> jvmArgs() {
            return QUICK_START;
        }

        /** Returns 1, because every round gives the same figures. */
        @Override
        public int rounds(Profile profile) {
            return 1;
        }

        @Override
        public Map<String, Double> measure(Bench bench, String peer, int size) throws Exception {
            boolean nested = size == 2;
            if (nested && !Peer.of(peer).isReentrant()) {
                return Map.of();
            }
            List<AgentProcess> used = bench.open(peer, 1, Bench.LEASE);
            Message order = Message.of("count").with("name", bench.freshName()).with("nested", nested);
            // The first calls load scripts and make connections.
            used.get(0).send(order.with("pairs", 20));
            bench.await(used);
            bench.meter().start();
            used.get(0).send(order.with("pairs", PAIRS));
            bench.await(used);
            ServerMeter.Load load = bench.meter().stop();
            bench.close(used);
            // The outer pair is not nested.
            double around = nested ? onePair(peer) : 0;
            return Map.of(
                    "commands", (Peer.of(peer).onTheWire(load.commands()) - around) / PAIRS,
                    "bytesIn", (double) load.bytesIn() / PAIRS,
                    "bytesOut", (double) load.bytesOut() / PAIRS);
        }

        private static double onePair(String peer) {
            return peer.startsWith("redisson") ? 3 : 2;
        }
    }
}
