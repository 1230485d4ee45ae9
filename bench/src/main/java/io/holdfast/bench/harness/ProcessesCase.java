package io.holdfast.bench.harness;

import io.holdfast.bench.agent.Message;
import io.holdfast.bench.peer.Peer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Several processes compete for one name all the time; the size is their number. */
record ProcessesCase(String id, int threads) implements Case {

    static final List<String> SMALL = List.of("-Xmx256m", "-XX:+UseSerialGC");

    static final ProcessesCase ONE_THREAD = new ProcessesCase("processes-x1", 1);
    static final ProcessesCase FOUR_THREADS = new ProcessesCase("processes-x4", 4);

    @Override
    public List<String> peers(Profile profile) {
        if (threads == 1) {
            return profile.isShort()
                    ? List.of("holdfast", "redisson", "lettuce-queue")
                    : PairCases.with(
                            List.of(
                                    "holdfast",
                                    "redisson",
                                    "spring-spin",
                                    "lettuce",
                                    "lettuce-handoff",
                                    "lettuce-queue"),
                            profile);
        }
        return profile.isShort()
                ? List.of("holdfast", "redisson", "spring-spin")
                : PairCases.with(List.of("holdfast", "redisson", "spring-spin", "lettuce"), profile);
    }

    @Override
    public List<Integer> sizes(Profile profile) {
        return threads == 1 ? profile.jvms() : profile.crowdedJvms();
    }

    @Override
    public List<String> jvmArgs() {
        return SMALL;
    }

    @Override
    public Map<String, Double> measure(Bench bench, String peer, int size) throws Exception {
        List<AgentProcess> used = bench.open(peer, size, Bench.LEASE);
        String name = bench.freshName();
        List<Path> journals = bench.journals(size);
        Bench.Observed observed = bench.window(peer, used, () -> orders(name, journals));
        bench.close(used);

        Handoffs handoffs = Handoffs.of(journals);
        List<Message> answers = observed.answers();
        Map<String, Double> figures = new LinkedHashMap<>(observed.figures());
        double seconds = bench.profile().window().toNanos() / 1e9;
        figures.put("remotePerSecond", handoffs.remote() / seconds);
        figures.put(
                "commandsPerHandoff",
                Peer.of(peer).onTheWire(observed.load().commands()) / Math.max(1, handoffs.remote()));
        figures.put("handoffP50us", handoffs.latencies().micros(0.5));
        figures.put("handoffP99us", handoffs.latencies().micros(0.99));
        figures.put("longestWaitMs", Bench.max(answers, "longestWaitMs"));
        figures.put("least", Bench.min(answers, "least"));
        figures.put("most", Bench.max(answers, "most"));
        figures.put("leastOfProcess", Bench.min(answers, "acquisitions"));
        figures.put("mostOfProcess", Bench.max(answers, "acquisitions"));
        figures.merge("violations", (double) handoffs.overlaps(), Double::sum);
        return figures;
    }

    private List<Message> orders(String name, List<Path> journals) throws IOException {
        List<Message> orders = new ArrayList<>();
        for (Path journal : journals) {
            Files.deleteIfExists(journal);
            orders.add(PairCases.order(name, threads).with("journal", journal));
        }
        return orders;
    }
}
