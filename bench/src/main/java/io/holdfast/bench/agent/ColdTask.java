package io.holdfast.bench.agent;

import io.holdfast.bench.peer.Handle;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Pairs from the first on, each thread on a name of its own. Order: {@code name}, {@code threads}, {@code began} (when
 * the process was started, on the clock that all processes of the machine share), {@code seconds}.
 */
final class ColdTask implements Task {

    private static final long SECOND = 1_000_000_000;

    private static final int[] AFTER = {1, 3, 10};

    @Override
    public Map<String, Double> run(Handle handle, Message order) throws Exception {
        String name = order.text("name");
        handle.lock(name);
        handle.unlock(name);
        long first = System.nanoTime();
        List<Loop> loops = new ArrayList<>();
        for (int i = 0; i < order.count("threads"); i++) {
            loops.add(new Loop(handle, name + "-" + i, first, order.number("seconds")));
        }
        Threads.start(loops).join();
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("firstMs", (first - order.number("began")) / 1e6);
        for (int i = 0; i < AFTER.length; i++) {
            double pairs = 1;
            for (Loop loop : loops) {
                pairs += loop.pairs[i];
            }
            figures.put("in" + AFTER[i] + "s", pairs);
        }
        return figures;
    }

    private static final class Loop implements Threads.Body {

        private final Handle handle;
        private final String name;
        private final long first;
        private final long seconds;
        final long[] pairs = new long[AFTER.length];

        Loop(Handle handle, String name, long first, long seconds) {
            this.handle = handle;
            this.name = name;
            this.first = first;
            this.seconds = seconds;
        }

        @Override
        public void run() throws Exception {
            long done = 0;
            for (int i = 0; i < AFTER.length; i++) {
                long until = first + Math.min(AFTER[i], seconds) * SECOND;
                while (System.nanoTime() - until < 0) {
                    handle.lock(name);
                    handle.unlock(name);
                    done++;
                }
                pairs[i] = done;
            }
        }
    }
}
