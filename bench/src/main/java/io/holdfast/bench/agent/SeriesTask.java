package io.holdfast.bench.agent;

import io.holdfast.bench.peer.Handle;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Many pairs on one name, one after the other: what the first ones cost, and the last. Order: {@code pairs}, {@code
 * name}.
 */
final class SeriesTask implements Task {

    @Override
    public Map<String, Double> run(Handle handle, Message order) throws Exception {
        String name = order.text("name");
        Series series = new Series(order.count("pairs"));
        for (int i = 0; i < order.count("pairs"); i++) {
            long from = System.nanoTime();
            handle.lock(name);
            handle.unlock(name);
            series.add(System.nanoTime() - from);
        }
        return new LinkedHashMap<>(series.figures());
    }
}
