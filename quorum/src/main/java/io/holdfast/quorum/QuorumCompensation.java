package io.holdfast.quorum;

import io.holdfast.spi.QuorumMember.Released;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Gives votes back: sends the release of a claim to a member again until the member confirms, or until the vote must
 * have expired. In the background; nobody waits for it.
 */
final class QuorumCompensation {

    private static final long RETRY_FIRST_NANOS = 100_000_000;
    private static final long RETRY_MAX_NANOS = 2_000_000_000;

    /** Requests to members carry no time after which they are refused, so this is a guess; as that of other such stores. */
    private static final long LATE_NANOS = 5_000_000_000L;

    private final TimeSource time;
    private final long patienceNanos;
    private final AtomicInteger pending = new AtomicInteger();
    private volatile boolean closed;

    QuorumCompensation(Members members) {
        this.time = members.time();
        // A request for the lock may still be executed a little later; then its lease begins.
        this.patienceNanos = members.settings().quarantineMillis() * 1_000_000 + RETRY_MAX_NANOS;
    }

    /**
     * A request for the lock failed, and may still be executed: after the release of its claim, which then was of no use. So
     * one more follows when it cannot be executed any more.
     */
    void undoWhatIsLate(Seat seat, Claim claim) {
        time.schedule(LATE_NANOS, () -> {
            if (claim.over && !closed) {
                undo(seat, claim);
            }
        });
    }

    /** Releases at one member. */
    void undo(Seat seat, Claim claim) {
        pending.incrementAndGet();
        attempt(seat, claim, time.nanoTime() + patienceNanos, 0);
    }

    /** A release was sent already, and failed. */
    void undoLater(Seat seat, Claim claim) {
        pending.incrementAndGet();
        retry(seat, claim, time.nanoTime() + patienceNanos, RETRY_FIRST_NANOS);
    }

    int pending() {
        return pending.get();
    }

    void close() {
        closed = true;
    }

    private void attempt(Seat seat, Claim claim, long untilNanos, long delayNanos) {
        CompletionStage<Released> release = seat.send(member -> member.release(claim.name, claim.id, false));
        release.whenComplete((reply, error) -> {
            if (error == null || isPointless(seat, error) || closed || time.nanoTime() - untilNanos >= 0) {
                pending.decrementAndGet();
            } else {
                retry(seat, claim, untilNanos, Math.max(RETRY_FIRST_NANOS, Math.min(2 * delayNanos, RETRY_MAX_NANOS)));
            }
        });
    }

    private void retry(Seat seat, Claim claim, long untilNanos, long delayNanos) {
        time.schedule(delayNanos, () -> attempt(seat, claim, untilNanos, delayNanos));
    }

    private static boolean isPointless(Seat seat, Throwable error) {
        return Round.storeError(seat, error).outcome() == StoreException.Outcome.FATAL;
    }
}
