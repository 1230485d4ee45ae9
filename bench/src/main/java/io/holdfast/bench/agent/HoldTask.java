package io.holdfast.bench.agent;

import io.holdfast.bench.peer.Handle;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Many names held by one thread while nothing else happens. Order: {@code names}, {@code name}, {@code lease} in
 * nanoseconds, {@code phase}: {@code take} answers the heap for each held lock after one lease, {@code watch} CPU
 * between {@code from} and {@code to}, and {@code give} releases all. The same thread executes all orders, so it is the
 * owner.
 */
final class HoldTask implements Task {

    @Override
    public Map<String, Double> run(Handle handle, Message order) throws Exception {
        int names = order.count("names");
        String name = order.text("name");
        switch (order.text("phase")) {
            case "take" -> {
                // Loads the classes. This lock stays held, because some peers renew differently after a time without
                // locks.
                handle.lock(name + "-first");
                long before = Clock.heapInUse();
                for (int i = 0; i < names; i++) {
                    handle.lock(name + "-" + i);
                }
                // A lock is renewed for most of the time that it is held: each has been renewed by then.
                Clock.sleepUntil(System.nanoTime() + order.number("lease"));
                return Map.of("heapPerLock", (double) (Clock.heapInUse() - before) / names);
            }
            case "watch" -> {
                Map<String, Double> figures = new LinkedHashMap<>();
                CpuWindow.watch(order).report(figures);
                return figures;
            }
            default -> {
                int lost = 0;
                for (int i = 0; i < names; i++) {
                    try {
                        handle.unlock(name + "-" + i);
                    } catch (RuntimeException e) {
                        lost++;
                    }
                }
                return Map.of("lost", (double) lost);
            }
        }
    }
}
