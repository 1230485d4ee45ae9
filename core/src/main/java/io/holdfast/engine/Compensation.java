package io.holdfast.engine;

import io.holdfast.log.BoundedLog;
import io.holdfast.log.Log;
import io.holdfast.log.Quoted;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import io.holdfast.store.StoreErrors;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Withdraws abandoned acquisitions and holds whose release failed (engine rule 4). Repeats each withdrawal until the
 * store confirms it, the hold must have expired, or the client is closed. Every release and every withdrawal of a
 * client passes through here.
 *
 * <p>An acquire that was sent may be executed after its withdrawal. Three mechanisms guard against such late acquires,
 * and this class is where they meet. Each withdrawal is harmless, because a holder id is used once.
 *
 * <ul>
 *   <li>{@link Contention#onAcquired} withdraws an id again when an answer arrives for an attempt that was given up:
 *       an acquire may have several steps, or use another connection. {@link Effects#awaitAnswer} lets a close wait.
 *   <li>{@link Effects#watchForLate} withdraws an id again when its failed acquire can no longer be executed.
 *   <li>A store refuses an acquire that arrives too late, as the Redis store does after the time "not after" in the
 *       command. {@link LockStore#lateness} says when that is, and {@link Effects#watchForLate} waits for it.
 * </ul>
 */
final class Compensation {

    private static final long RETRY_FIRST_NANOS = 100_000_000;
    private static final long RETRY_MAX_NANOS = 2_000_000_000;

    /** The largest number of names in the log line about names that a closed client could not release. */
    private static final int NAMES_LOGGED = 20;

    private final LockStore store;
    private final EngineSettings settings;
    private final TimeSource time;
    private final boolean ofPools;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile boolean closed;
    private final BoundedLog failures;
    private final Pending pending = new Pending("", "", false); // by lock; the list's head, not one of them
    private int size; // by lock; how many are pending
    private @Nullable CompletableFuture<Void> idle; // by lock; completed when nothing is pending

    /**
     * The releases that are under way, by holder id. Invariant: between the sending of a release and its answer, no
     * abandon of its id is sent. A store may execute two commands in another order than they were sent, and the release
     * would not find its hold then.
     */
    private final Map<String, Pending> releases = new HashMap<>(); // by lock

    /** The ids of holds that are left at the store on purpose. Invariant: no abandon of them is sent. */
    private final Set<String> retained = ConcurrentHashMap.newKeySet();

    /** @param ofPools whether the names are those of pools */
    Compensation(LockStore store, EngineSettings settings, boolean ofPools) {
        this.ofPools = ofPools;
        this.store = store;
        this.settings = settings;
        this.time = settings.time;
        failures = new BoundedLog(
                System.Logger.Level.WARNING,
                time,
                n -> n + " more locks could not be released or given up within " + DurationText.of(BoundedLog.WINDOW)
                        + "; each becomes free when its lease has run out");
    }

    /**
     * A command, or a series of them, that is not confirmed yet. Linked, because a set would cost every release more.
     */
    private static final class Pending {

        private final String name;
        private final String holderId;

        /** Whether a lease was handed out on it, so that the name is locked until the store has confirmed. */
        private boolean held; // by lock

        /** Of a release: the longest lease for which its id is to be abandoned afterwards; zero if it is not. */
        private long abandonNanos; // by lock

        private Pending before = this; // by lock
        private Pending after = this; // by lock

        Pending(String name, String holderId, boolean held) {
            this.name = name;
            this.holderId = holderId;
            this.held = held;
        }
    }

    /**
     * Sends a release, and withdraws the hold when the outcome is an error.
     *
     * @param leaseNanos the longest lease it can have got
     */
    CompletionStage<ReleaseReply> release(ReleaseRequest request, long leaseNanos) {
        Pending release = new Pending(request.name(), request.holderId(), true);
        lock.lock();
        try {
            begin(release);
            releases.put(release.holderId, release);
        } finally {
            lock.unlock();
        }
        CompletionStage<ReleaseReply> command = store.release(request);
        command.whenComplete((reply, error) -> onReleased(release, error == null ? 0 : leaseNanos));
        return command;
    }

    /** @param leaseNanos the longest lease it can have got, or zero if the store confirmed the release */
    private void onReleased(Pending release, long leaseNanos) {
        CompletableFuture<Void> done = null;
        long longestNanos;
        lock.lock();
        try {
            releases.remove(release.holderId);
            release.held = leaseNanos > 0;
            longestNanos = Math.max(leaseNanos, release.abandonNanos);
            if (longestNanos == 0) {
                done = unlink(release);
            }
        } finally {
            lock.unlock();
        }
        if (longestNanos > 0) {
            withdraw(release, longestNanos);
        } else if (done != null) {
            done.complete(null);
        }
    }

    /**
     * Withdraws a holder id that may hold nothing, unless it is retained; after the answer to its release, if that is
     * under way. That answer alone does not say that nothing is left: an acquire of the id may be executed after the
     * release.
     *
     * @param leaseNanos the longest lease it can have got
     */
    void abandon(String name, String holderId, long leaseNanos) {
        abandon(new Pending(name, holderId, false), leaseNanos);
    }

    /** Withdraws a hold in the same way. */
    void abandonHold(String name, String holderId, long leaseNanos) {
        abandon(new Pending(name, holderId, true), leaseNanos);
    }

    private void abandon(Pending withdrawal, long leaseNanos) {
        lock.lock();
        try {
            Pending release = releases.get(withdrawal.holderId);
            if (release != null) {
                release.abandonNanos = Math.max(release.abandonNanos, leaseNanos);
            }
            if (release != null || retained.contains(withdrawal.holderId)) {
                return;
            }
            begin(withdrawal);
        } finally {
            lock.unlock();
        }
        withdraw(withdrawal, leaseNanos);
    }

    /** Leaves a hold at the store: late news of its grant must not end it. */
    void retain(String holderId) {
        retained.add(holderId);
    }

    /** Ends that: from now on the id can be withdrawn. */
    void stopRetaining(String holderId) {
        retained.remove(holderId);
    }

    /** Tracks a command of the engine's own that ends a hold, so that close() waits for it. */
    void track(String name, CompletionStage<?> command) {
        Runnable end = pend(new Pending(name, "", true));
        command.whenComplete((reply, error) -> end.run());
    }

    /** Lets close() wait until the returned action runs: for the answer to an acquire that was given up. */
    Runnable keepPending() {
        return pend(new Pending("", "", false));
    }

    private Runnable pend(Pending begun) {
        lock.lock();
        try {
            begin(begun);
        } finally {
            lock.unlock();
        }
        return () -> end(begun);
    }

    /** Names a hold on one of the names, in the middle of a sentence. */
    String describedHold(String name) {
        return ofPools ? PoolRequest.describedHold(name) : "the lock " + Quoted.name(name);
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
     * Ends all repetitions, because the store is about to be closed, and logs the names that may therefore stay
     * locked. An abandoned acquisition is not among them: usually it never got the lock.
     */
    void close(Duration waited) {
        closed = true;
        failures.flush();
        TreeSet<String> names = new TreeSet<>();
        lock.lock();
        try {
            for (Pending each = pending.after; each != pending; each = each.after) {
                if (each.held) {
                    names.add(ofPools ? PoolRequest.shown(each.name) : each.name);
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

    private void withdraw(Pending withdrawal, long leaseNanos) {
        // A command that was sent may be executed a little later; its lease begins then.
        attempt(withdrawal, time.nanoTime() + leaseNanos + settings.storeTimeoutNanos(), RETRY_FIRST_NANOS);
    }

    private void attempt(Pending withdrawal, long giveUpNanos, long retryNanos) {
        store.abandon(withdrawal.name, withdrawal.holderId).whenComplete((held, error) -> {
            // After close(), which has logged all that was pending, nothing is asked again.
            if (error == null || closed) {
                end(withdrawal);
            } else if (StoreErrors.of(error).outcome() == StoreException.Outcome.FATAL
                    || time.nanoTime() - giveUpNanos >= 0) {
                failures.log(() -> failure(withdrawal, error));
                end(withdrawal);
            } else {
                time.schedule(settings.jittered(retryNanos), () -> {
                    if (closed) {
                        end(withdrawal);
                    } else {
                        attempt(withdrawal, giveUpNanos, Math.min(2 * retryNanos, RETRY_MAX_NANOS));
                    }
                });
            }
        });
    }

    private String failure(Pending withdrawal, Throwable error) {
        String hold = describedHold(withdrawal.name);
        return (withdrawal.held
                        ? Quoted.atStart(hold)
                                + " could not be released at the store, and becomes free when its lease has run out"
                        : "An acquisition of " + hold
                                + " that was given up could not be withdrawn at the store; if it got the lock, that"
                                + " becomes free when its lease has run out")
                + " (holder id " + Quoted.holder(withdrawal.holderId) + "): "
                + StoreErrors.of(error).getMessage();
    }

    /** By the lock's holder. */
    private void begin(Pending begun) {
        size++;
        begun.before = pending.before;
        begun.after = pending;
        pending.before.after = begun;
        pending.before = begun;
    }

    private void end(Pending ended) {
        CompletableFuture<Void> done;
        lock.lock();
        try {
            done = unlink(ended);
        } finally {
            lock.unlock();
        }
        if (done != null) {
            done.complete(null);
        }
    }

    /** By the lock's holder. Returns what to complete when the lock is released. */
    private @Nullable CompletableFuture<Void> unlink(Pending ended) {
        ended.before.after = ended.after;
        ended.after.before = ended.before;
        if (--size > 0) {
            return null;
        }
        CompletableFuture<Void> done = idle;
        idle = null;
        return done;
    }
}
