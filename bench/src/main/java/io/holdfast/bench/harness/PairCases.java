package io.holdfast.bench.harness;

import io.holdfast.bench.agent.Message;
import io.holdfast.bench.peer.Peer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Cases of one process: pairs on names of their own, nested pairs, asynchronous ones, and one name for all threads. */
final class PairCases {

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

    /** Lock and unlock of a name that no other thread uses; the size is the number of threads. */
    static final class Uncontended implements Case {

        @Override
        public String id() {
            return "uncontended";
        }

        @Override
        public List<String> peers(Profile profile) {
            return profile.isShort()
                    ? List.of("holdfast", "lettuce", "lettuce-lean", "lettuce-scripts", "redisson")
                    : with(
                            List.of(
                                    "holdfast",
                                    "lettuce",
                                    "jedis",
                                    "lettuce-lean",
                                    "lettuce-scripts",
                                    "redisson",
                                    "spring-spin"),
                            profile);
        }

        @Override
        public List<Integer> sizes(Profile profile) {
            return List.of(1, 8, 64);
        }

        @Override
        public Map<String, Double> measure(Bench bench, String peer, int size) throws Exception {
            return single(bench, peer, order(bench.freshName(), size).with("own", true));
        }
    }

    /** Lock and unlock by the thread that holds the lock already. */
    static final class Reentrant implements Case {

        @Override
        public String id() {
            return "reentrant";
        }

        @Override
        public List<String> peers(Profile profile) {
            return (profile.isShort()
                            ? List.of("holdfast", "redisson")
                            : with(List.of("holdfast", "redisson", "spring-spin"), profile))
                    .stream().filter(peer -> Peer.of(peer).isReentrant()).toList();
        }

        @Override
        public List<Integer> sizes(Profile profile) {
            return List.of(1);
        }

        @Override
        public Map<String, Double> measure(Bench bench, String peer, int size) throws Exception {
            return single(bench, peer, order(bench.freshName(), 1).with("nested", true));
        }
    }

    /** All threads of one process compete for one name; the size is their number. */
    static final class OneName implements Case {

        @Override
        public String id() {
            return "one-name";
        }

        @Override
        public List<String> peers(Profile profile) {
            return profile.isShort()
                    ? List.of("holdfast", "redisson", "spring-spin")
                    : with(List.of("holdfast", "redisson", "spring-spin", "lettuce"), profile);
        }

        @Override
        public List<Integer> sizes(Profile profile) {
            return profile.isShort() ? List.of(64) : List.of(8, 64, 256);
        }

        @Override
        public Map<String, Double> measure(Bench bench, String peer, int size) throws Exception {
            return single(bench, peer, order(bench.freshName(), size));
        }
    }

    /** All threads of one process read under one read-write lock; the size is their number. */
    static final class Readers implements Case {

        @Override
        public String id() {
            return "readers";
        }

        @Override
        public List<String> peers(Profile profile) {
            return List.of("holdfast-read", "redisson-read");
        }

        @Override
        public List<Integer> sizes(Profile profile) {
            return profile.isShort() ? List.of(64) : List.of(1, 8, 64);
        }

        @Override
        public Map<String, Double> measure(Bench bench, String peer, int size) throws Exception {
            return single(bench, peer, order(bench.freshName(), size).with("most", size));
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
            return with(
                    List.of(
                            "holdfast",
                            "lettuce",
                            "jedis",
                            "lettuce-lean",
                            "lettuce-scripts",
                            "redisson",
                            "spring-spin"),
                    profile);
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

    private static Map<String, Double> single(Bench bench, String peer, Message order) throws Exception {
        List<AgentProcess> used = bench.open(peer, 1, Bench.LEASE);
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
