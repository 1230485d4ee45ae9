package io.holdfast.jdbc;

import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spi.DaemonThreads;
import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Deletes keys of {@link JdbcOnce} that were kept for long enough, again and again, on one process at a time.
 *
 * <pre>{@code
 * OncePurge purge = OncePurge.start(Duration.ofHours(1), locks, () -> {
 *     try (Connection connection = database.getConnection()) {
 *         connection.setAutoCommit(true); // a pool without it would roll the deletion back
 *         return JdbcOnce.defaults().purge(connection);
 *     }
 * });
 * }</pre>
 *
 * <p>A daemon thread does the work. A deletion that fails is logged as a warning, and tried again at the next time. In
 * Spring and Jakarta CDI, {@code @Idempotent} starts it. Thread-safe.
 */
public final class OncePurge implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(OncePurge.class.getName());

    private static final String LOCK = "holdfast-once-purge";
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(5);

    private final Duration every;
    private final @Nullable LockClient locks;
    private final Deletion deletion;
    private final ScheduledExecutorService timer =
            Executors.newSingleThreadScheduledExecutor(DaemonThreads.factory(LOCK));

    private OncePurge(Duration every, @Nullable LockClient locks, Deletion deletion) {
        this.every = every;
        this.locks = locks;
        this.deletion = deletion;
    }

    /** Deletes keys. */
    @FunctionalInterface
    public interface Deletion {

        /**
         * Deletes the keys that were kept for long enough, as {@link JdbcOnce#purge} does.
         *
         * @return how many keys were deleted
         */
        int run() throws Exception;
    }

    /**
     * Starts the deletions; the first one at a random time from half the interval on, so that processes that were
     * started together do not ask together.
     *
     * @param every from the end of a deletion to the next one, at least a second
     * @param locks whose lock {@code holdfast-once-purge} lets the other processes skip their turn; null: each process
     *     deletes, which is more work and nothing else
     * @throws IllegalArgumentException if the interval is shorter than a second
     */
    public static OncePurge start(Duration every, @Nullable LockClient locks, Deletion deletion) {
        requireNonNull(deletion, "deletion");
        if (every.compareTo(SHORTEST) < 0) {
            throw new IllegalArgumentException(
                    "every: " + DurationText.of(every) + " (expected: at least " + DurationText.of(SHORTEST) + ")");
        }
        OncePurge purge = new OncePurge(every, locks, deletion);
        purge.schedule();
        return purge;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // it ends with the timer, and purge reports its failures
    private void schedule() {
        long first = ThreadLocalRandom.current().nextLong(every.toMillis() / 2, every.toMillis() + 1);
        timer.scheduleWithFixedDelay(this::purge, first, every.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void purge() {
        try {
            if (locks == null) {
                delete();
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
            delete();
            // The others skip their turn.
            lease.releaseHoldingAtLeast(every.dividedBy(2));
        }
    }

    private void delete() throws Exception {
        int deleted = deletion.run();
        if (deleted > 0) {
            LOG.log(System.Logger.Level.DEBUG, "Purged {0} keys of idempotent methods", deleted);
        }
    }

    /** Ends the deletions. Waits for one that runs, for at most 5 s. */
    @Override
    public void close() {
        // No interrupt: it would close the file of an H2 database.
        timer.shutdown();
        try {
            if (!timer.awaitTermination(CLOSE_WITHIN.toSeconds(), TimeUnit.SECONDS)) {
                LOG.log(System.Logger.Level.DEBUG, "A purge of keys goes on after the end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
