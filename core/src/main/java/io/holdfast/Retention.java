package io.holdfast;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Names that stay locked for a while although their lease was released: the store is told to end the hold at that time by
 * itself, so this process may end meanwhile. While it lives it also withdraws the hold then, for stores whose holds have no
 * end of their own, and so that waiters are served at once.
 */
final class Retention {

    private static final long RETRY_NANOS = 500_000_000;

    /** By how much the store keeps it longer, so that it is still there to be passed on when its time has come here. */
    private static final long STORE_LONGER_NANOS = 250_000_000;

    private final LockStore store;
    private final Compensation compensation;
    private final TimeSource time;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Kept> kept = new HashMap<>(); // by lock; by holder id
    private boolean closed; // by lock

    Retention(LockStore store, Compensation compensation, TimeSource time) {
        this.store = store;
        this.compensation = compensation;
        this.time = time;
    }

    /**
     * Keeps a hold whose lease was released.
     *
     * @param endNanos until when
     * @param certainNanos until when it is certainly there if the store does not hear of this
     * @param settingNumber the number of this exact setting of the hold's length
     * @param longestNanos how long the store may keep it without knowing of this
     * @return completes with true if the store did not know the hold any more; fails if the first command fails: the store is
     *     asked again in the background then
     */
    CompletionStage<Boolean> keep(
            String name, String holderId, long endNanos, long certainNanos, long settingNumber, long longestNanos) {
        Kept hold = new Kept(name, holderId, endNanos, certainNanos, settingNumber, longestNanos);
        hold.schedule(endNanos - time.nanoTime(), hold::end);
        return hold.tell();
    }

    /** Whether it was left at the store on purpose: late news of its grant must not end it. */
    boolean keeps(String holderId) {
        lock.lock();
        try {
            return kept.containsKey(holderId);
        } finally {
            lock.unlock();
        }
    }

    /** Nothing is released: that is the point. */
    void close() {
        lock.lock();
        try {
            closed = true;
            kept.values().forEach(Kept::cancel);
        } finally {
            lock.unlock();
        }
    }

    private final class Kept {

        private final String name;
        private final String holderId;
        private final long endNanos;
        private final long certainNanos;
        private final long settingNumber;
        private final long longestNanos;
        private TimeSource.@Nullable Timer end; // by lock

        Kept(String name, String holderId, long endNanos, long certainNanos, long settingNumber, long longestNanos) {
            this.name = name;
            this.holderId = holderId;
            this.endNanos = endNanos;
            this.certainNanos = certainNanos;
            this.settingNumber = settingNumber;
            this.longestNanos = longestNanos;
        }

        CompletionStage<Boolean> tell() {
            CompletableFuture<Boolean> told = new CompletableFuture<>();
            long millis = (endNanos - time.nanoTime() + STORE_LONGER_NANOS) / 1_000_000;
            CompletionStage<RenewReply> command = store.renew(
                    RenewRequest.set(name, holderId, millis, settingNumber).counted(false));
            compensation.track(name, command);
            command.whenComplete((reply, error) -> {
                if (error != null) {
                    retry(error);
                    told.completeExceptionally(error);
                } else {
                    told.complete(reply instanceof RenewReply.Gone);
                }
            });
            return told;
        }

        /** Until it is told, the hold lasts as long as its last renewal said. */
        private void retry(Throwable error) {
            if (compensation.isClosed()) {
                return;
            }
            if (StoreErrors.of(error).outcome() == StoreException.Outcome.FATAL) {
                warn("could not be kept after its release. The store said: " + error.getMessage());
            } else if (endNanos - time.nanoTime() > RETRY_NANOS) {
                time.schedule(RETRY_NANOS, () -> {
                    if (isKept() && !compensation.isClosed()) {
                        tell().whenComplete((wasGone, failed) -> tellAgain(failed == null && wasGone));
                    }
                });
            } else if (certainNanos - endNanos < 0) {
                warn("may become free before the time for which it was to be kept after its release. The store said: "
                        + error.getMessage());
            }
        }

        /** Its owner went on long ago and hears of nothing; at least the log must say it. */
        private void tellAgain(boolean wasGone) {
            if (wasGone && isKept()) {
                warn("was not kept after its release: its hold had ended before the store could be told");
            }
        }

        private void warn(String what) {
            Log.LOG.log(System.Logger.Level.WARNING, "The lock " + Quoted.name(name) + " " + what);
        }

        private boolean isKept() {
            lock.lock();
            try {
                return kept.get(holderId) == this;
            } finally {
                lock.unlock();
            }
        }

        private void schedule(long delayNanos, Runnable task) {
            lock.lock();
            try {
                kept.put(holderId, this);
                if (!closed) {
                    end = time.schedule(delayNanos, task);
                }
            } finally {
                lock.unlock();
            }
        }

        private void end() {
            lock.lock();
            try {
                kept.remove(holderId);
            } finally {
                lock.unlock();
            }
            // Perhaps the store was never told of the end.
            compensation.abandonHold(name, holderId, longestNanos);
        }

        /** By the lock's holder. */
        private void cancel() {
            if (end != null) {
                end.cancel();
            }
        }
    }
}
