package io.holdfast.engine;

import io.holdfast.Lease;
import io.holdfast.LockStoreException;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A call of {@link Lease#extend}: gives the lease of a {@link Tenure} a new time.
 *
 * @param nanos the time that the lease shall have left, from the request on
 * @param answer completes when the engine has an answer, or fails with a {@link LockStoreException}
 */
record LeaseExtension(ActiveLease lease, long nanos, CompletableFuture<@Nullable Void> answer) {

    LeaseExtension(ActiveLease lease, long nanos) {
        this(lease, nanos, new CompletableFuture<>());
    }

    /** The owner gives its lease a new time. */
    void onAsked(NameState state) {
        Hold held = state.tenure.hold();
        if (held == null || !isOn(state)) {
            state.effects.endExtension(this, null);
            return;
        }
        ClockReading now = ClockReading.now(state.settings().time);
        RenewRequest request = state.effects.upkeep().extensionRequest(held, this, now, state.effects.storedName());
        state.effects.sendExtension(held, this, request);
    }

    /** Returns whether the lease is out, if it has not ended: readers share a hold. */
    private boolean isOn(NameState state) {
        return state.tenure.lease() == lease || !lease.isExclusive();
    }

    /** Handles the answer to that renewal. If the lease has ended meanwhile, its caller finds that when the call ends. */
    void onAnswered(
            NameState state,
            Hold held,
            RenewRequest request,
            ClockReading sent,
            @Nullable RenewReply reply,
            @Nullable Throwable error) {
        boolean counts = held == state.tenure.hold() && isOn(state) && request.sequence() == held.sequence;
        if (counts && reply instanceof RenewReply.Superseded) {
            // A renewal that was sent later was executed before it.
            onAsked(state);
            return;
        }
        if (counts && error == null) {
            if (reply instanceof RenewReply.Renewed) {
                state.effects.upkeep().onExtended(this, sent);
            }
            state.tenure.onRenewed(held, request, sent, reply, null);
        }
        state.effects.endExtension(this, error);
    }

    /** Called by the engine, once. */
    void end(@Nullable LockStoreException why) {
        if (why == null) {
            answer.complete(null);
        } else {
            answer.completeExceptionally(why);
        }
    }
}
