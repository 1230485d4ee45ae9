package io.holdfast.quorum;

import io.holdfast.quorum.QuorumMember.Released;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Gives votes back in the background: repeats the release of a claim at a member until the member confirms it or the
 * vote must have expired.
 */
final class QuorumCompensation {

    private static final long RETRY_FIRST_NANOS = 100_000_000;
    private static final long RETRY_MAX_NANOS = 2_000_000_000;

    /** An estimate, as in other stores: requests to members carry no time after which they are refused. */
    private static final long LATE_NANOS = 5_000_000_000L;

    private final TimeSource time;
    private final long patienceNanos;
    private final AtomicInteger pending = new AtomicInteger();
    private volatile boolean closed;

    QuorumCompensation(Members members) {
        this.time = members.time();
        // A request for the lock may still be executed a little later, and its lease begins then.
        this.patienceNanos = members.settings().quarantineMillis() * 1_000_000 + RETRY_MAX_NANOS;
    }

    /**
     * Releases a claim again when a failed request for the lock can no longer be executed. The request may have been
     * executed after the first release of its claim, which then had no effect.
     */
    void releaseLate(Seat seat, Claim claim) {
        time.schedule(LATE_NANOS, () -> {
            if (claim.over && !closed) {
                release(seat, claim);
            }
        });
    }

    /** Releases a claim at one member. */
    void release(Seat seat, Claim claim) {
        pending.incrementAndGet();
        attempt(seat, claim, time.nanoTime() + patienceNanos, 0);
    }

    /** Repeats a release that has failed. */
    void releaseAgain(Seat seat, Claim claim) {
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
