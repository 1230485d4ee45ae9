package io.holdfast.bench.agent;

import io.holdfast.bench.peer.Handle;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Takes names, each by a thread of its own, and answers the time of each grant by the wall clock, by which the server
 * expires keys. Order: {@code names}, {@code name}, {@code keep} (or release at once).
 */
final class TakeTask implements Task {

    @Override
    public Map<String, Double> run(Handle handle, Message order) throws Exception {
        Map<String, Double> granted = new ConcurrentHashMap<>();
        boolean keep = order.flag("keep");
        List<Threads.Body> bodies = new ArrayList<>();
        for (int i = 0; i < order.count("names"); i++) {
            String name = order.text("name") + "-" + i;
            String figure = "at" + i;
            bodies.add(() -> {
                handle.lock(name);
                granted.put(figure, (double) System.currentTimeMillis());
                if (keep) {
                    // Sleeps until the process is killed, because a peer may stop renewals for a dead thread.
                    Thread.sleep(120_000);
                }
                handle.unlock(name);
            });
        }
        Threads threads = Threads.start(bodies);
        if (keep) {
            while (granted.size() < bodies.size()) {
                Thread.sleep(5);
            }
        } else {
            threads.join();
        }
        return new LinkedHashMap<>(granted);
    }
}
