package io.holdfast.bench.agent;

import io.holdfast.bench.peer.Handle;
import java.util.Map;

/**
 * An exact number of pairs on one thread, for counting commands. Order: {@code pairs}, {@code name}, {@code nested}.
 */
final class CountTask implements Task {

    @Override
    public Map<String, Double> run(Handle handle, Message order) throws Exception {
        String name = order.text("name");
        int pairs = order.count("pairs");
        boolean nested = order.flag("nested");
        if (nested) {
            handle.lock(name);
        }
        for (int i = 0; i < pairs; i++) {
            handle.lock(name);
            handle.unlock(name);
        }
        if (nested) {
            handle.unlock(name);
        }
        return Map.of("acquisitions", (double) pairs);
    }
}
