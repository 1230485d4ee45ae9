package io.holdfast;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Withdraws what nobody wants any more (acquisitions given up or of unknown outcome, holds whose release failed) until
 * the store confirms, or until it must have expired, or the client is closed: design rule 4.
 */
final class Compensation {

    private static final long RETRY_FIRST_NANOS = 100_000_000;
    private static final long RETRY_MAX_NANOS = 2_000_000_000;

    /** Of the names that a closed client could not release, so many are in the log. */
    private static final int NAMES_LOGGED = 20;

    private final LockStore store;
    private final EngineSettings settings;
    private final TimeSource time;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile boolean closed;
    private final BoundedLog failures;
    private final Pending pending = new Pending("", false); // by lock; the list's head, not one of them
    private int size; // by lock; how many are pending
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
        failures = new BoundedLog(
                System.Logger.Level.WARNING,
                time,
                n -> n + " more locks could not be released or given up within " + DurationText.of(BoundedLog.WINDOW)
                        + "; each becomes free when its lease has run out");
    }

    /** A command, or a series of them, that is not confirmed yet. Linked, as a place in a set would cost every release. */
    private static final class Pending {

        private final String name;

        /** Whether a lease was handed out on it, so that the name is locked until the store has confirmed. */
        private final boolean held;

        private Pending before = this; // by lock
        private Pending after = this; // by lock

        Pending(String name, boolean held) {
            this.name = name;
            this.held = held;
        }
    }

    /**
     * Sends a release, and withdraws the hold when the outcome is an error.
     *
     * @param leaseNanos the longest lease it can have got
     */
    CompletionStage<ReleaseReply> release(ReleaseRequest request, long leaseNanos) {
        String holderId = request.holderId();
        Pending release = new Pending(request.name(), true);
        begin(release);
        lock.lock();
        try {
            releasing.put(holderId, 0L);
        } finally {
            lock.unlock();
        }
        CompletionStage<ReleaseReply> command = store.release(request);
        command.whenComplete((reply, error) -> {
            long longestNanos = Math.max(releaseEnded(holderId), error == null ? 0 : leaseNanos);
            if (longestNanos > 0) {
                withdraw(new Pending(request.name(), error != null), holderId, longestNanos);
            }
            end(release);
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
     * Withdraws a holder id that may hold nothing; after the answer to its release, if that is under way. That answer alone
     * does not say that nothing is left: an acquire of the id may be executed after the release.
     *
     * @param leaseNanos the longest lease it can have got
     */
    void abandon(String name, String holderId, long leaseNanos) {
        abandon(name, holderId, leaseNanos, false);
    }

    /** Withdraws a hold, as above. */
    void abandonHold(String name, String holderId, long leaseNanos) {
        abandon(name, holderId, leaseNanos, true);
    }

    private void abandon(String name, String holderId, long leaseNanos, boolean held) {
        lock.lock();
        try {
            if (releasing.computeIfPresent(holderId, (id, longest) -> Math.max(longest, leaseNanos)) != null) {
                return;
            }
        } finally {
            lock.unlock();
        }
        withdraw(new Pending(name, held), holderId, leaseNanos);
    }

    private void withdraw(Pending withdrawal, String holderId, long leaseNanos) {
        begin(withdrawal);
        // A command that was sent may be executed a little later still; then its lease begins.
        long giveUpNanos = time.nanoTime() + leaseNanos + settings.storeTimeoutNanos;
        attempt(withdrawal, holderId, giveUpNanos, RETRY_FIRST_NANOS);
    }

    /** A command of the engine's own to end a hold, which close() waits for. */
    void track(String name, CompletionStage<?> command) {
        Pending release = new Pending(name, true);
        begin(release);
        command.whenComplete((reply, error) -> end(release));
    }

    int pending() {
        lock.lock();
        try {
            return size;
        } finally {
            lock.unlock();
        }
    }

    /** Completes when nothing is pending. */
    CompletionStage<Void> whenIdle() {
        lock.lock();
        try {
            if (size == 0) {
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
     * The store is about to be closed: nothing is asked again. Logs the names that may stay locked for that. An
     * acquisition that was given up is not among them: as a rule it never got the lock.
     */
    void close(Duration waited) {
        closed = true;
        failures.flush();
        TreeSet<String> names = new TreeSet<>();
        lock.lock();
        try {
            for (Pending each = pending.after; each != pending; each = each.after) {
                if (each.held) {
                    names.add(each.name);
                }
            }
        } finally {
            lock.unlock();
        }
        if (!names.isEmpty()) {
            int more = names.size() - NAMES_LOGGED;
            Log.LOG.log(
                    System.Logger.Level.WARNING,
                    "The client was closed before " + store.describe() + " confirmed the release of "
                            + Quoted.names(names.stream().limit(NAMES_LOGGED).toList())
                            + (more > 0 ? " and " + more + " more" : "") + ", for which it waited at most "
                            + DurationText.of(waited) + "; each becomes free when its lease has run out");
        }
    }

    boolean isClosed() {
        return closed;
    }

    private void attempt(Pending withdrawal, String holderId, long giveUpNanos, long retryNanos) {
        store.abandon(withdrawal.name, holderId).whenComplete((held, error) -> {
            // When closed: close() has logged all that was pending.
            if (error == null || closed) {
                end(withdrawal);
            } else if (isPointless(error) || time.nanoTime() - giveUpNanos >= 0) {
                failures.log(() -> failure(withdrawal, holderId, error));
                end(withdrawal);
            } else {
                time.schedule(
                        settings.jittered(retryNanos),
                        () -> again(withdrawal, holderId, giveUpNanos, Math.min(2 * retryNanos, RETRY_MAX_NANOS)));
            }
        });
    }

    private static String failure(Pending withdrawal, String holderId, Throwable error) {
        String lock = Quoted.name(withdrawal.name);
        return (withdrawal.held
                        ? "The lock " + lock
                                + " could not be released at the store, and becomes free when its lease has"
                                + " run out"
                        : "An acquisition of the lock " + lock
                                + " that was given up could not be withdrawn at the store;"
                                + " if it got the lock, that becomes free when its lease has run out")
                + " (holder id " + Quoted.holder(holderId) + "): "
                + StoreErrors.of(error).getMessage();
    }

    private void again(Pending withdrawal, String holderId, long giveUpNanos, long retryNanos) {
        if (closed) {
            end(withdrawal);
        } else {
            attempt(withdrawal, holderId, giveUpNanos, retryNanos);
        }
    }

    private static boolean isPointless(Throwable error) {
        return StoreErrors.of(error).outcome() == StoreException.Outcome.FATAL;
    }

    private void begin(Pending begun) {
        lock.lock();
        try {
            size++;
            begun.before = pending.before;
            begun.after = pending;
            pending.before.after = begun;
            pending.before = begun;
        } finally {
            lock.unlock();
        }
    }

    private void end(Pending ended) {
        CompletableFuture<Void> done = null;
        lock.lock();
        try {
            ended.before.after = ended.after;
            ended.after.before = ended.before;
            if (--size == 0) {
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
