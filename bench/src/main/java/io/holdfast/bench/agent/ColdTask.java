package io.holdfast.bench.agent;

import io.holdfast.bench.peer.Handle;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Pairs on one thread from the first on. Order: {@code name}, {@code began} (when the process was started, on the clock
 * that all processes of the machine share), {@code seconds}.
 */
final class ColdTask implements Task {

    private static final long SECOND = 1_000_000_000;

    @Override
    public Map<String, Double> run(Handle handle, Message order) throws Exception {
        String name = order.text("name");
        long began = order.number("began");
        handle.lock(name);
        handle.unlock(name);
        long first = System.nanoTime();
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("firstMs", (first - began) / 1e6);
        double pairs = 1;
        for (int second : new int[] {1, 3, 10}) {
            long until = first + Math.min(second, order.number("seconds")) * SECOND;
            while (System.nanoTime() - until < 0) {
                handle.lock(name);
                handle.unlock(name);
                pairs++;
            }
            figures.put("in" + second + "s", pairs);
        }
        return figures;
    }
}
