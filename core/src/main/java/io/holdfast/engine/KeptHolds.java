package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.log.Log;
import io.holdfast.log.Quoted;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import io.holdfast.store.StoreErrors;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps names locked for a while after the release of their lease. The store is asked to end the hold at that time by
 * itself, so this process may end before. While the process lives it also withdraws the hold then, for stores whose
 * holds have no end of their own, and so that waiters are served at once.
 *
 * <p>Invariant: while a hold is in {@link #kept}, {@link Compensation} withdraws it for no other reason.
 */
final class KeptHolds {

    private static final long RETRY_NANOS = 500_000_000;

    /** By how much the store keeps a hold longer, so that it can still be passed on when its time has come here. */
    private static final long STORE_LONGER_NANOS = 250_000_000;

    private final LockStore store;
    private final Compensation compensation;
    private final TimeSource time;
    private final Set<Kept> kept = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    KeptHolds(LockStore store, Compensation compensation, TimeSource time) {
        this.store = store;
        this.compensation = compensation;
        this.time = time;
    }

    /**
     * Keeps the hold of a released lease until this time. Called under the lock of the name.
     *
     * @return completes with true if the store did not know the hold any more; fails if the first command fails, and
     *     then the store is asked again in the background
     */
    CompletionStage<Boolean> keep(Hold released, long endNanos) {
        Kept hold = new Kept(released, endNanos);
        compensation.retain(hold.holderId);
        kept.add(hold);
        CompletionStage<Boolean> answer = hold.send();
        hold.scheduleEnd();
        return answer;
    }

    /** Cancels the timers, and releases nothing: the holds outlive the client on purpose. */
    void close() {
        closed = true;
        kept.forEach(Kept::cancelEnd);
    }

    private final class Kept {

        private final String name;
        private final String holderId;
        private final long endNanos;
        private final long settingNumber; // of this exact setting of the hold's length
        private final long certainNanos; // until when it is there even if this setting does not reach the store
        private final long longestNanos; // for how long the store may keep it if this setting does not reach the store
        private volatile TimeSource.@Nullable Timer end;

        /** The last command that was sent. A withdrawal before its answer could overtake it, and look like a loss. */
        private volatile @Nullable CompletionStage<RenewReply> command;

        Kept(Hold hold, long endNanos) {
            this.name = hold.engine.storedName();
            this.holderId = hold.holderId();
            this.endNanos = endNanos;
            this.settingNumber = hold.sequence;
            this.certainNanos = hold.deadline.nanos();
            this.longestNanos = hold.longestNanos();
        }

        CompletionStage<Boolean> send() {
            CompletableFuture<Boolean> gone = new CompletableFuture<>();
            // At least 1 ms: the process may have stalled until after the end, and zero is no length.
            long millis = Math.max(1, (endNanos - time.nanoTime() + STORE_LONGER_NANOS) / 1_000_000);
            CompletionStage<RenewReply> sent = store.renew(
                    RenewRequest.set(name, holderId, millis, settingNumber).counted(false));
            compensation.track(name, sent);
            command = sent;
            sent.whenComplete((reply, error) -> {
                if (error != null) {
                    retry(error);
                    gone.completeExceptionally(error);
                } else {
                    gone.complete(reply instanceof RenewReply.Gone);
                }
            });
            return gone;
        }

        /** Asks again: until the store has been asked, the hold lasts only as long as its last renewal said. */
        private void retry(Throwable error) {
            if (compensation.isClosed()) {
                return;
            }
            if (StoreErrors.of(error).outcome() == StoreException.Outcome.FATAL) {
                warn("could not be kept after its release. The store said: " + error.getMessage());
            } else if (endNanos - time.nanoTime() > RETRY_NANOS) {
                time.schedule(RETRY_NANOS, () -> {
                    if (isKept() && !compensation.isClosed()) {
                        send().whenComplete((wasGone, failed) -> onSentAgain(failed == null && wasGone));
                    }
                });
            } else if (certainNanos - endNanos < 0) {
                warn("may become free before the time for which it was to be kept after its release. The store said: "
                        + error.getMessage());
            }
        }

        /** The release has returned long ago, so the log is the only place for this. */
        private void onSentAgain(boolean wasGone) {
            if (wasGone && isKept()) {
                warn("was not kept after its release: its hold had ended before the store could be asked to keep it");
            }
        }

        private void warn(String what) {
            Log.LOG.log(System.Logger.Level.WARNING, Quoted.atStart(compensation.describedHold(name)) + " " + what);
        }

        private boolean isKept() {
            return kept.contains(this);
        }

        void scheduleEnd() {
            end = time.schedule(endNanos - time.nanoTime(), this::end);
            if (closed) {
                // The close may have passed over the timer before it was there.
                cancelEnd();
            }
        }

        private void cancelEnd() {
            TimeSource.Timer timer = end;
            if (timer != null) {
                timer.cancel();
            }
        }

        private void end() {
            kept.remove(this);
            requireNonNull(command).whenComplete((reply, error) -> withdraw());
        }

        private void withdraw() {
            compensation.stopRetaining(holderId);
            // Perhaps the store was never asked for this end.
            compensation.abandonHold(name, holderId, longestNanos);
        }
    }
}
