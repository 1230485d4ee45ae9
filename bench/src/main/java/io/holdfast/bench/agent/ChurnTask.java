package io.holdfast.bench.agent;

import io.holdfast.bench.peer.Handle;
import java.util.Map;

/** Pairs at a rate, each on a new name. Order: {@code rate} a second, {@code name}, {@code to}. */
final class ChurnTask implements Task {

    @Override
    public Map<String, Double> run(Handle handle, Message order) throws Exception {
        long interval = 1_000_000_000L / order.number("rate");
        long to = order.number("to");
        String name = order.text("name");
        long pairs = 0;
        for (long next = System.nanoTime(); next - to < 0; next += interval) {
            Clock.sleepUntil(next);
            handle.lock(name + "-" + pairs % 100);
            handle.unlock(name + "-" + pairs % 100);
            pairs++;
        }
        return Map.of("acquisitions", (double) pairs);
    }
}
