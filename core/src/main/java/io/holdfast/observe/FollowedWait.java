package io.holdfast.observe;

import io.holdfast.engine.LockEvents.WaitTrace;
import org.jspecify.annotations.Nullable;

/** A wait as the flight recorder, the user's tracer and the log of long waits follow it: those that do. */
final class FollowedWait implements WaitTrace {

    /** The wait as an event of the flight recorder; null if waits are not recorded. */
    final Recorder.@Nullable Acquire recording;

    /** The wait as the tracer follows it; null if it does not. */
    final Traces.@Nullable Followed traced;

    private final boolean once;

    /** Whether the wait was found to be long, and was logged or counted. */
    boolean isLong; // by the name's lock

    /** The caller of a long wait whose beginning was logged: then the log also says how the wait ends. */
    @Nullable
    String logged; // by the name's lock

    FollowedWait(Recorder.@Nullable Acquire recording, Traces.@Nullable Followed traced, boolean once) {
        this.recording = recording;
        this.traced = traced;
        this.once = once;
    }

    @Override
    public @Nullable String traceParent() {
        return traced == null ? null : traced.traceParent();
    }

    @Override
    public void waitsForOwn(String holderId, @Nullable String traceParent) {
        if (recording != null) {
            recording.setHolder(holderId);
        }
        if (traced != null) {
            traced.waitsForOwn(holderId, traceParent);
        }
    }

    @Override
    public void waitsFor(@Nullable String holderId) {
        if (recording != null) {
            recording.setHolder(holderId);
        }
        // A single attempt is no wait, so nobody asks whose trace it met.
        if (traced != null && holderId != null && !once) {
            traced.waitsFor(holderId);
        }
    }

    @Override
    public void onDelivered() {
        if (recording != null) {
            recording.record();
        }
    }
}
