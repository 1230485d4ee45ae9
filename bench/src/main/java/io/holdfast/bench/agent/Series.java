package io.holdfast.bench.agent;

import java.util.Arrays;
import java.util.Map;

/** Durations of one thing after the other. Not thread-safe. */
public final class Series {

    /** So many are the first ones, and the last ones. */
    private static final int MOST = 200;

    private final long[] nanos;
    private int size;

    /** @param most how many are added */
    public Series(int most) {
        this.nanos = new long[most];
    }

    public void add(long duration) {
        nanos[size++] = duration;
    }

    /** Returns the median of the first ones and of the last ones, and the factor between them. */
    public Map<String, Double> figures() {
        int part = Math.max(1, Math.min(MOST, size / 3));
        double first = median(0, part);
        double last = median(size - part, size);
        return Map.of("firstUs", first / 1e3, "lastUs", last / 1e3, "factor", last / first);
    }

    private double median(int from, int to) {
        long[] sorted = Arrays.copyOfRange(nanos, from, to);
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
