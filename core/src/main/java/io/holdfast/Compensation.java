package io.holdfast;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.Names;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Withdraws what nobody wants any more (acquisitions given up or of unknown outcome, holds whose release failed) until
 * the store confirms, or until it must have expired, or the client is closed: design rule 4. Releases pass through here,
 * too, so that a withdrawal does not overtake the release of the same id.
 */
final class Compensation {

    private static final System.Logger LOG = System.getLogger(LockClient.class.getName());
    private static final long RETRY_FIRST_NANOS = 100_000_000;
    private static final long RETRY_MAX_NANOS = 2_000_000_000;

    /** The first failure of each so long is told of in full, the others of that time by their number. */
    private static final long TELL_EVERY_NANOS = 1_000_000_000;

    private final LockStore store;
    private final EngineSettings settings;
    private final TimeSource time;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile boolean closed;
    private boolean told; // by lock; a failure was, within the present TELL_EVERY_NANOS
    private int untold; // by lock; failures since
    private int pending; // by lock
    private @Nullable CompletableFuture<Void> idle; // by lock; completed when nothing is pending

    /**
     * The holder ids whose release is under way, each with the longest lease for which it is to be abandoned afterwards;
     * zero if it is not. Invariant: between the sending of a release and its answer, no abandon of its id is sent. A store
     * may execute two commands in another order than they were sent, and the release would not find its hold then.
     */
    private final Map<String, Long> releasing = new HashMap<>(); // by lock

    Compensation(LockStore store, EngineSettings settings) {
        this.store = store;
        this.settings = settings;
        this.time = settings.time;
    }

    /**
     * Sends a release, and withdraws the holder id when the outcome is an error.
     *
     * @param leaseNanos the longest lease it can have got
     */
    CompletionStage<ReleaseReply> release(ReleaseRequest request, long leaseNanos) {
        String holderId = request.holderId();
        lock.lock();
        try {
            pending++;
            releasing.put(holderId, 0L);
        } finally {
            lock.unlock();
        }
        CompletionStage<ReleaseReply> command = store.release(request);
        command.whenComplete((reply, error) -> {
            long longestNanos = Math.max(releaseEnded(holderId), error == null ? 0 : leaseNanos);
            if (longestNanos > 0) {
                abandon(request.name(), holderId, longestNanos);
            }
            end();
        });
        return command;
    }

    /** Returns the longest lease for which the id is to be abandoned now; zero if it is not. */
    private long releaseEnded(String holderId) {
        lock.lock();
        try {
            Long longestNanos = releasing.remove(holderId);
            return longestNanos == null ? 0 : longestNanos;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Withdraws a holder id; after the answer to its release, if that is under way. That answer alone does not say that
     * nothing is left: an acquire of the id may be executed after the release.
     *
     * @param leaseNanos the longest lease it can have got
     */
    void abandon(String name, String holderId, long leaseNanos) {
        lock.lock();
        try {
            if (releasing.computeIfPresent(holderId, (id, longest) -> Math.max(longest, leaseNanos)) != null) {
                return;
            }
        } finally {
            lock.unlock();
        }
        begin();
        // A command that was sent may be executed a little later still; then its lease begins.
        long giveUpNanos = time.nanoTime() + leaseNanos + settings.storeTimeoutNanos;
        attempt(name, holderId, giveUpNanos, RETRY_FIRST_NANOS);
    }

    /** A command of the engine's own that close() waits for. */
    void track(CompletionStage<?> command) {
        begin();
        command.whenComplete((reply, error) -> end());
    }

    int pending() {
        lock.lock();
        try {
            return pending;
        } finally {
            lock.unlock();
        }
    }

    /** Completes when nothing is pending. */
    CompletionStage<Void> whenIdle() {
        lock.lock();
        try {
            if (pending == 0) {
                return CompletableFuture.completedFuture(null);
            }
            if (idle == null) {
                idle = new CompletableFuture<>();
            }
            return idle;
        } finally {
            lock.unlock();
        }
    }

    /**
     * The store is about to be closed: nothing is asked again.
     *
     * @return how many are not confirmed
     */
    int close() {
        closed = true;
        return pending();
    }

    boolean isClosed() {
        return closed;
    }

    private void attempt(String name, String holderId, long giveUpNanos, long retryNanos) {
        store.abandon(name, holderId).whenComplete((held, error) -> {
            // When closed: close() has told of all that was pending.
            if (error == null || closed) {
                end();
            } else if (isPointless(error) || time.nanoTime() - giveUpNanos >= 0) {
                tell("Could not withdraw " + holderId + " from " + Names.printable(name)
                        + "; it is gone when its lease has run out. The store said: " + error.getMessage());
                end();
            } else {
                time.schedule(
                        settings.jittered(retryNanos),
                        () -> again(name, holderId, giveUpNanos, Math.min(2 * retryNanos, RETRY_MAX_NANOS)));
            }
        });
    }

    private void tell(String failure) {
        lock.lock();
        try {
            if (told) {
                untold++;
                return;
            }
            told = true;
        } finally {
            lock.unlock();
        }
        LOG.log(System.Logger.Level.WARNING, failure);
        time.schedule(TELL_EVERY_NANOS, this::tellOfTheOthers);
    }

    private void tellOfTheOthers() {
        int others;
        lock.lock();
        try {
            others = untold;
            untold = 0;
            told = false;
        } finally {
            lock.unlock();
        }
        if (others > 0) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "Could not withdraw " + others + " more; they are gone when their leases have run out");
        }
    }

    private void again(String name, String holderId, long giveUpNanos, long retryNanos) {
        if (closed) {
            end();
        } else {
            attempt(name, holderId, giveUpNanos, retryNanos);
        }
    }

    private static boolean isPointless(Throwable error) {
        return StoreErrors.of(error).outcome() == StoreException.Outcome.FATAL;
    }

    private void begin() {
        lock.lock();
        try {
            pending++;
        } finally {
            lock.unlock();
        }
    }

    private void end() {
        CompletableFuture<Void> done = null;
        lock.lock();
        try {
            if (--pending == 0) {
                done = idle;
                idle = null;
            }
        } finally {
            lock.unlock();
        }
        if (done != null) {
            done.complete(null);
        }
    }
}
