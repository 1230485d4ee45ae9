package io.holdfast.bench.agent;

import io.holdfast.bench.peer.Handle;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Chains of asynchronous pairs, each chain on a name of its own; a pair begins when the pair before is complete. Order:
 * {@code flight} (the number of chains), {@code name}, {@code from}, {@code to}.
 */
final class AsyncTask implements Task {

    @Override
    public Map<String, Double> run(Handle handle, Message order) throws Exception {
        int flight = order.count("flight");
        Chains chains = new Chains(handle, order.number("from"), order.number("to"), flight);
        for (int i = 0; i < flight; i++) {
            chains.next(order.text("name") + "-" + i);
        }
        CpuWindow cpu = CpuWindow.watch(order);
        if (!chains.ended.await(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException(chains.ended.getCount() + " chains have not ended after a minute");
        }
        Throwable failure = chains.failure.get();
        if (failure != null) {
            throw new IllegalStateException("a chain failed", failure);
        }
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("acquisitions", (double) chains.done.sum());
        cpu.report(figures);
        return figures;
    }

    private static final class Chains {

        private final Handle handle;
        private final long from;
        private final long to;
        final CountDownLatch ended;
        final LongAdder done = new LongAdder();
        final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

        Chains(Handle handle, long from, long to, int flight) {
            this.handle = handle;
            this.from = from;
            this.to = to;
            this.ended = new CountDownLatch(flight);
        }

        void next(String name) {
            handle.pair(name).whenComplete((unused, error) -> {
                long now = System.nanoTime();
                if (error != null) {
                    failure.compareAndSet(null, error);
                    ended.countDown();
                    return;
                }
                if (now - from >= 0 && now - to < 0) {
                    done.increment();
                }
                if (now - to < 0) {
                    next(name);
                } else {
                    ended.countDown();
                }
            });
        }
    }
}
