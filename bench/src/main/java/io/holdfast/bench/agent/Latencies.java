package io.holdfast.bench.agent;

/** Counts durations in buckets of 1/16 of their power of two. Not thread-safe. */
public final class Latencies {

    private static final int SUB_BITS = 4;

    private final long[] buckets = new long[64 << SUB_BITS];
    private long total;

    public void add(long nanos) {
        buckets[index(Math.max(1, nanos))]++;
        total++;
    }

    void addAll(Latencies other) {
        for (int i = 0; i < buckets.length; i++) {
            buckets[i] += other.buckets[i];
        }
        total += other.total;
    }

    public long total() {
        return total;
    }

    /** Returns the value in microseconds below which this part of the durations lies; NaN if there are none. */
    public double micros(double part) {
        long rank = (long) Math.ceil(part * total);
        long seen = 0;
        for (int i = 0; i < buckets.length; i++) {
            seen += buckets[i];
            if (seen >= rank && seen > 0) {
                return middle(i) / 1_000;
            }
        }
        return Double.NaN;
    }

    private static int index(long nanos) {
        int exponent = 63 - Long.numberOfLeadingZeros(nanos);
        int sub = exponent < SUB_BITS
                ? (int) (nanos << (SUB_BITS - exponent)) & 15
                : (int) (nanos >>> (exponent - SUB_BITS)) & 15;
        return exponent << SUB_BITS | sub;
    }

    private static double middle(int index) {
        double base = Math.scalb(1.0, index >> SUB_BITS);
        return base * (1 + ((index & 15) + 0.5) / 16);
    }
}
