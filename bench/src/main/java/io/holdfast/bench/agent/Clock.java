package io.holdfast.bench.agent;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;

/** Points of time that parent and children share (one Linux host has one nanoTime), CPU time and heap. */
public final class Clock {

    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private Clock() {}

    public static void sleepUntil(long nanoTime) {
        for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** Returns the CPU time of this process so far, in ns. */
    static long cpu() {
        return SYSTEM.getProcessCpuTime();
    }

    /** Returns the live heap after a few collections, in bytes. */
    static long heapInUse() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        // Renewals make garbage all the time, so the smallest reading is nearest to the live heap.
        for (int i = 0; i < 10; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
            LockSupport.parkNanos(20_000_000);
        }
        return least;
    }
}
