package io.holdfast.bench.harness;

import io.holdfast.bench.agent.Journal;
import io.holdfast.bench.agent.Latencies;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The journals of several processes, merged by time.
 *
 * @param overlaps how many times a thread was inside before another had left
 * @param remote how many times the next thread inside was of another process
 * @param latencies the latencies of these hand-offs, from before the release to after the grant
 */
record Handoffs(long overlaps, long remote, Latencies latencies) {

    private record Stay(long entered, long left, int process) {}

    static Handoffs of(List<Path> journals) throws IOException {
        List<Stay> stays = new ArrayList<>();
        for (int process = 0; process < journals.size(); process++) {
            long[] times = Journal.read(journals.get(process));
            for (int i = 0; i < times.length; i += 2) {
                stays.add(new Stay(times[i], times[i + 1], process));
            }
        }
        stays.sort(Comparator.comparingLong(Stay::entered));
        long overlaps = 0;
        Latencies latencies = new Latencies();
        for (int i = 1; i < stays.size(); i++) {
            Stay before = stays.get(i - 1);
            Stay next = stays.get(i);
            if (next.entered() - before.left() < 0) {
                overlaps++;
            } else if (next.process() != before.process()) {
                latencies.add(next.entered() - before.left());
            }
        }
        return new Handoffs(overlaps, latencies.total(), latencies);
    }
}
