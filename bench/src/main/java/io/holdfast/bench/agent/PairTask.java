package io.holdfast.bench.agent;

import io.holdfast.bench.peer.Handle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Threads that lock and unlock until the window ends. A pair counts if it begins or waits in the window.
 *
 * <p>Order: {@code threads}; {@code name}, with {@code own=true} one for each thread; {@code nested}, for reentrant
 * pairs; {@code from} and {@code to}, by nanoTime; {@code section}, the ns to stay inside; {@code journal}, a file or
 * empty; {@code most}, how many may be inside at once, or 1.
 */
final class PairTask implements Task {

    @Override
    public Map<String, Double> run(Handle handle, Message order) throws Exception {
        boolean own = order.flag("own");
        int permits = Integer.parseInt(order.fields().getOrDefault("most", "1"));
        Inside shared = new Inside(permits);
        List<PairLoop> loops = new ArrayList<>();
        List<Inside> detectors = new ArrayList<>();
        for (int i = 0; i < order.count("threads"); i++) {
            Inside inside = own ? new Inside(permits) : shared;
            detectors.add(inside);
            String name = order.text("name") + (own ? "-" + i : "");
            loops.add(new PairLoop(handle, order, name, inside));
        }
        Threads threads = Threads.start(loops);
        CpuWindow cpu = CpuWindow.watch(order);
        threads.join();

        String journal = order.text("journal");
        Latencies latencies = new Latencies();
        Map<String, Double> figures = new LinkedHashMap<>();
        long acquisitions = 0;
        long least = Long.MAX_VALUE;
        long most = 0;
        long longest = 0;
        for (PairLoop loop : loops) {
            acquisitions += loop.acquisitions();
            least = Math.min(least, loop.acquisitions());
            most = Math.max(most, loop.acquisitions());
            longest = Math.max(longest, loop.longestWait());
            latencies.addAll(loop.latencies());
            if (!journal.isEmpty()) {
                loop.journal().appendTo(Path.of(journal));
            }
        }
        figures.put("acquisitions", (double) acquisitions);
        figures.put("least", (double) least);
        figures.put("most", (double) most);
        figures.put("longestWaitMs", longest / 1e6);
        figures.put("p50us", latencies.micros(0.5));
        figures.put("p99us", latencies.micros(0.99));
        cpu.report(figures);
        figures.put("violations", (double)
                detectors.stream().distinct().mapToLong(Inside::violations).sum());
        return figures;
    }
}
