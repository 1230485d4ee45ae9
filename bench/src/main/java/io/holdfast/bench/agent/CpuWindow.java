package io.holdfast.bench.agent;

import java.util.Map;

/**
 * CPU time of this process in a window, and the delay of the readings: on a shared machine a thread may not run for
 * longer than a window, and then its readings have no meaning.
 */
final class CpuWindow {

    private final long cpu;
    private final long late;

    private CpuWindow(long cpu, long late) {
        this.cpu = cpu;
        this.late = late;
    }

    /** Sleeps through the window. */
    static CpuWindow watch(Message order) {
        long from = order.number("from");
        long to = order.number("to");
        Clock.sleepUntil(from);
        long lateAtStart = System.nanoTime() - from;
        long before = Clock.cpu();
        Clock.sleepUntil(to);
        long lateAtEnd = System.nanoTime() - to;
        return new CpuWindow(Clock.cpu() - before, Math.max(lateAtStart, lateAtEnd));
    }

    void report(Map<String, Double> figures) {
        figures.put("cpuNs", (double) cpu);
        figures.put("lateNs", (double) late);
    }
}
