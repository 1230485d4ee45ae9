package io.holdfast.bench.harness;

import io.holdfast.bench.agent.Journal;
import io.holdfast.bench.agent.Message;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Several processes compete for five permits all the time, with eight threads each; the size is the number of processes.
 * A permit is held for a moment, so that what is measured is the wait for one, and not an idle pool.
 */
final class PermitsCase implements Case {

    static final int PERMITS = 5;
    static final int THREADS = 8;
    static final Duration SECTION = Duration.ofMillis(2);

    @Override
    public String id() {
        return "permits";
    }

    @Override
    public List<String> peers(Profile profile) {
        return List.of("holdfast-permits", "redisson-permits", "redisson-semaphore");
    }

    @Override
    public List<Integer> sizes(Profile profile) {
        return profile.jvms();
    }

    @Override
    public List<String> jvmArgs() {
        return ProcessesCase.SMALL;
    }

    @Override
    public Map<String, Double> measure(Bench bench, String peer, int size) throws Exception {
        List<AgentProcess> used = bench.open(peer, size, Bench.LEASE);
        String name = bench.freshName();
        List<Path> journals = bench.journals(size);
        Bench.Observed observed = bench.window(peer, used, () -> orders(name, journals));
        bench.close(used);

        List<Message> answers = observed.answers();
        Map<String, Double> figures = new LinkedHashMap<>(observed.figures());
        double longestMs = Bench.max(answers, "longestWaitMs");
        figures.put("longestWaitMs", longestMs);
        figures.put(
                "longestByFair", longestByFair(longestMs, size * THREADS, figures.getOrDefault("rate", Double.NaN)));
        figures.put("leastOfProcess", Bench.min(answers, "acquisitions"));
        figures.put("mostOfProcess", Bench.max(answers, "acquisitions"));
        figures.merge("violations", (double) tooMany(journals), Double::sum);
        return figures;
    }

    /**
     * Returns the longest wait divided by the fair share. The fair share is the time in which all threads together
     * acquire once each.
     */
    static double longestByFair(double longestMs, int threads, double rate) {
        return longestMs / (1_000.0 * threads / rate);
    }

    private static List<Message> orders(String name, List<Path> journals) throws IOException {
        List<Message> orders = new ArrayList<>();
        for (Path journal : journals) {
            Files.deleteIfExists(journal);
            orders.add(PairCases.order(name, THREADS)
                    .with("most", PERMITS)
                    .with("section", SECTION.toNanos())
                    .with("journal", journal));
        }
        return orders;
    }

    /** A thread comes in (+1) or leaves (-1). */
    private record Step(long nanos, int by) {}

    /** Returns how many times a thread was inside beside as many as there are permits. */
    static long tooMany(List<Path> journals) throws IOException {
        List<Step> steps = new ArrayList<>();
        for (Path journal : journals) {
            long[] times = Journal.read(journal);
            for (int i = 0; i < times.length; i++) {
                steps.add(new Step(times[i], i % 2 == 0 ? 1 : -1));
            }
        }
        steps.sort(Comparator.comparingLong(Step::nanos).thenComparingInt(Step::by));
        long tooMany = 0;
        int inside = 0;
        for (Step step : steps) {
            inside += step.by();
            tooMany += step.by() > 0 && inside > PERMITS ? 1 : 0;
        }
        return tooMany;
    }
}
