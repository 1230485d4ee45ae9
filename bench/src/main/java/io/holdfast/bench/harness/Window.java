package io.holdfast.bench.harness;

import io.holdfast.bench.agent.Clock;
import io.holdfast.bench.agent.Message;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What children have done in a window, and the counters of the store at its borders.
 *
 * @param journals of the children, one each, which are there if they were asked for
 */
record Window<T>(List<Message> answers, List<Path> journals, T before, T after, Duration length) {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /**
     * Lets children work through a warm-up and a window.
     *
     * @param order for each child; gets the times, and if {@code journal} a file of {@code scratch} for each
     */
    static <T> Window<T> of(
            List<AgentProcess> used,
            Message order,
            boolean journal,
            Path scratch,
            Duration warmUp,
            Duration length,
            Supplier<T> counters)
            throws IOException, InterruptedException {
        List<Path> journals = new ArrayList<>();
        long from = System.nanoTime() + warmUp.toNanos();
        long to = from + length.toNanos();
        for (int i = 0; i < used.size(); i++) {
            Path file = scratch.resolve("journal-" + i);
            Files.deleteIfExists(file);
            journals.add(file);
            used.get(i)
                    .send(order.with("journal", journal ? file : "")
                            .with("from", from)
                            .with("to", to));
        }
        Clock.sleepUntil(from);
        T before = counters.get();
        Clock.sleepUntil(to);
        T after = counters.get();
        List<Message> answers = new ArrayList<>();
        for (AgentProcess agent : used) {
            answers.add(agent.await(PATIENCE));
        }
        return new Window<>(answers, journals, before, after, length);
    }

    double acquisitions() {
        return Bench.sum(answers, "acquisitions");
    }

    /** Returns the figures that every window has. */
    Map<String, Double> figures() {
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("rate", acquisitions() / (length.toNanos() / 1e9));
        figures.put("p50us", Bench.max(answers, "p50us"));
        figures.put("longestWaitMs", Bench.max(answers, "longestWaitMs"));
        figures.put("violations", Bench.sum(answers, "violations"));
        return figures;
    }
}
