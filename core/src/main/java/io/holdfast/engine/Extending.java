package io.holdfast.engine;

import io.holdfast.spi.ClockReading;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import org.jspecify.annotations.Nullable;

/** The part of {@link NameState} that gives the lease of a {@link Tenure} a new time. Has no state; for one event. */
record Extending(NameState state) {

    /** The owner gives its lease a new time. */
    void onExtending(LeaseExtension extension) {
        Hold held = state.tenure.hold();
        if (held == null || state.tenure.lease() != extension.lease()) {
            state.effects.endExtension(extension, null);
            return;
        }
        ClockReading now = ClockReading.now(state.settings().time);
        RenewRequest request = state.effects.upkeep().extensionRequest(held, extension, now, state.effects.name());
        state.effects.sendExtension(held, extension, request);
    }

    /**
     * Handles the answer to a renewal that gives the lease a new time. If the lease has ended meanwhile, {@link
     * LeaseExtension#await} reports it.
     */
    void onExtended(
            Hold held,
            LeaseExtension extension,
            RenewRequest request,
            ClockReading sent,
            @Nullable RenewReply reply,
            @Nullable Throwable error) {
        boolean counts = held == state.tenure.hold()
                && extension.lease() == state.tenure.lease()
                && request.sequence() == held.sequence;
        if (counts && reply instanceof RenewReply.Superseded) {
            // A renewal that was sent later was executed before it.
            onExtending(extension);
            return;
        }
        if (counts && error == null) {
            if (reply instanceof RenewReply.Renewed) {
                state.effects.upkeep().onExtended(extension, sent);
            }
            state.tenure.onRenewed(held, request, sent, reply, null);
        }
        state.effects.endExtension(extension, error);
    }
}
