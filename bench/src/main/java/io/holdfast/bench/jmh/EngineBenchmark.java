package io.holdfast.bench.jmh;

import io.holdfast.DistributedLock;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/** The cost of the engine itself: the store answers from memory. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Benchmark)
public class EngineBenchmark {

    private final LockClient client = LockClient.connect("memory:bench");
    private final LockOptions fair = LockOptions.defaults().fair();

    /** A thread's own name, and a lease on another one. */
    @State(Scope.Thread)
    @SuppressWarnings("NullAway.Init") // by setUp
    public static class Mine {

        private DistributedLock own;
        private DistributedLock held;
        private Lease lease;

        @Setup
        public void setUp(EngineBenchmark benchmark) throws InterruptedException {
            String thread = "thread-" + Thread.currentThread().getId();
            own = benchmark.client.getLock(thread + "-own");
            held = benchmark.client.getLock(thread + "-held");
            lease = benchmark.client.acquire(thread + "-lease");
            held.lock();
        }

        @TearDown
        public void tearDown() {
            held.unlock();
            lease.release();
        }
    }

    @TearDown
    public void close() {
        client.close();
    }

    /** Acquire and release by the store. */
    @Benchmark
    public void uncontended(Mine mine) {
        mine.own.lock();
        try {
            // The section is empty, so that only the lock is measured.
        } finally {
            mine.own.unlock();
        }
    }

    /** A nested pair: a counter. */
    @Benchmark
    public void reentrant(Mine mine) {
        mine.held.lock();
        try {
            // The section is empty, so that only the lock is measured.
        } finally {
            mine.held.unlock();
        }
    }

    /** The check of a guarded loop. */
    @Benchmark
    public boolean isValid(Mine mine) {
        return mine.lease.isValid();
    }

    /** Two threads and one name: a running thread may take the lock before a parked one. */
    @Benchmark
    @Threads(2)
    public long handOff() throws InterruptedException {
        try (Lease lease = client.acquire("shared")) {
            return lease.fencingToken();
        }
    }

    /** Two threads and one name in strict order of arrival: each hand-off wakes a thread. */
    @Benchmark
    @Threads(2)
    public long fairHandOff() throws InterruptedException {
        try (Lease lease = client.acquire("shared", fair)) {
            return lease.fencingToken();
        }
    }
}
