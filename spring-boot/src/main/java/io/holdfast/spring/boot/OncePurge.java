package io.holdfast.spring.boot;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spi.DaemonThreads;
import io.holdfast.spi.DurationText;
import io.holdfast.spring.call.OnceCalls;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;

/**
 * Deletes the keys that were kept for long enough, again and again, on one instance at a time. It runs only in an
 * application that has methods for which there are keys.
 */
final class OncePurge implements SmartLifecycle {

    private static final System.Logger LOG = System.getLogger(OncePurge.class.getName());

    private static final String LOCK = "holdfast-once-purge";
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration STOP_WITHIN = Duration.ofSeconds(5);

    private final OnceCalls calls;
    private final ObjectProvider<LockClient> client;
    private final Duration every;

    private volatile @Nullable ScheduledExecutorService timer;

    OncePurge(OnceCalls calls, ObjectProvider<LockClient> client, Duration every) {
        if (every.isNegative() || (!every.isZero() && every.compareTo(SHORTEST) < 0)) {
            throw new LockSettingsException(
                    new IllegalArgumentException("holdfast.idempotent.purge-every: " + DurationText.of(every)
                            + " (expected: at least " + DurationText.of(SHORTEST) + ", or 0 for never)"));
        }
        this.calls = calls;
        this.client = client;
        this.every = every;
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // it ends with the timer, and purge reports its failures
    public void start() {
        if (timer != null || every.isZero() || !calls.isUsed()) {
            return;
        }
        ScheduledExecutorService started = Executors.newSingleThreadScheduledExecutor(DaemonThreads.factory(LOCK));
        // Instances that were started together do not ask together.
        long first = ThreadLocalRandom.current().nextLong(every.toMillis() / 2, every.toMillis() + 1);
        started.scheduleWithFixedDelay(this::purge, first, every.toMillis(), TimeUnit.MILLISECONDS);
        timer = started;
    }

    private void purge() {
        try {
            LockClient locks = client.getIfUnique();
            if (locks == null) {
                // The lock saves work only: two purges at once delete each key once.
                say(calls.purge());
                return;
            }
            Optional<Lease> lease = locks.tryAcquire(LOCK);
            if (lease.isPresent()) {
                purge(lease.get());
            }
        } catch (Exception e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "The keys of idempotent methods could not be purged, and the next try is in {0}: {1}",
                    DurationText.of(every),
                    e);
        }
    }

    private void purge(Lease lease) throws Exception {
        try (lease) {
            say(calls.purge());
            // The others skip their turn.
            lease.releaseHoldingAtLeast(every.dividedBy(2));
        }
    }

    private static void say(int deleted) {
        if (deleted > 0) {
            LOG.log(System.Logger.Level.DEBUG, "Purged {0} keys of idempotent methods", deleted);
        }
    }

    @Override
    public void stop() {
        ScheduledExecutorService running = timer;
        if (running == null) {
            return;
        }
        timer = null;
        // No interrupt: it would close the file of an H2 database.
        running.shutdown();
        try {
            if (!running.awaitTermination(STOP_WITHIN.toSeconds(), TimeUnit.SECONDS)) {
                LOG.log(System.Logger.Level.DEBUG, "A purge of keys goes on after the stop");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public boolean isRunning() {
        return timer != null;
    }

    /** Stops before the clients close. */
    @Override
    public int getPhase() {
        return LockClientLifecycle.PHASE + 1;
    }
}
