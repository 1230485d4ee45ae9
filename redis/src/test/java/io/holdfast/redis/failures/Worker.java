package io.holdfast.redis.failures;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.LockTimeoutException;
import io.holdfast.testkit.HistoryRecorder;
import io.holdfast.testkit.OverlapDetector;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes and releases one lock over and over, and counts the outcomes: every attempt has exactly one. Sections are far
 * shorter than a lease, so that a section runs under a valid lease unless the store broke its promise.
 */
final class Worker implements Runnable {

    /** How long an attempt waits at most. */
    static final Duration WAIT = Duration.ofSeconds(3);

    private final LockClient client;
    private final String name;
    private final OverlapDetector detector;
    private final HistoryRecorder recorder;
    private final Queue<String> errors = new ConcurrentLinkedQueue<>();
    private final Queue<String> oddities = new ConcurrentLinkedQueue<>();
    final AtomicLong attempts = new AtomicLong();
    final AtomicLong granted = new AtomicLong();
    final AtomicLong timedOut = new AtomicLong();
    final AtomicLong failed = new AtomicLong();
    final AtomicLong lost = new AtomicLong();
    final AtomicLong longestMillis = new AtomicLong();
    volatile boolean stopped;

    Worker(LockClient client, String name, OverlapDetector detector, HistoryRecorder recorder) {
        this.client = client;
        this.name = name;
        this.detector = detector;
        this.recorder = recorder;
    }

    @Override
    public void run() {
        while (!stopped) {
            attempts.incrementAndGet();
            long began = System.nanoTime();
            HistoryRecorder.Use use = recorder.ask(name, WAIT);
            try {
                Lease lease = client.acquire(name, LockOptions.defaults().waitAtMost(WAIT));
                took(began);
                granted.incrementAndGet();
                inside(use, lease);
            } catch (LockTimeoutException e) {
                took(began);
                timedOut.incrementAndGet();
                use.refused("timeout");
            } catch (LockStoreException e) {
                took(began);
                failed.incrementAndGet();
                use.refused("failed");
                errors.add(String.valueOf(e.getMessage()));
                LockSupport.parkNanos(5_000_000);
            } catch (InterruptedException | RuntimeException e) {
                oddities.add(String.valueOf(e));
                return;
            }
        }
    }

    Queue<String> errors() {
        return errors;
    }

    /** What is no outcome of an attempt. */
    Queue<String> oddities() {
        return oddities;
    }

    private void inside(HistoryRecorder.Use use, Lease lease) {
        use.granted(lease);
        detector.enter(lease.fencingToken());
        LockSupport.parkNanos(500_000);
        detector.leave();
        try {
            use.release(lease);
        } catch (LeaseLostException e) {
            lost.incrementAndGet();
        }
    }

    private void took(long began) {
        long millis = (System.nanoTime() - began) / 1_000_000;
        longestMillis.accumulateAndGet(millis, Math::max);
    }
}
