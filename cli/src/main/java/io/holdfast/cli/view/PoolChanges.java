package io.holdfast.cli.view;

import io.holdfast.PermitsState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tells what happened to permits between two answers of the store. Not thread-safe. */
public final class PoolChanges {

    /**
     * One change.
     *
     * @param event in one word
     * @param text for people, not escaped
     * @param hold the hold that began or ended; null if the change is of another kind
     */
    public record Change(String event, String text, PermitsState.@Nullable Hold hold) {}

    private @Nullable PermitsState before;
    private long beforeNanos;

    /** Takes the next answer. Returns the changes since the last one, or for the first answer what it says. */
    public List<Change> next(PermitsState now, long nowNanos) {
        List<Change> changes = new ArrayList<>();
        PermitsState last = before;
        if (last == null) {
            changes.add(
                    new Change(now.isUsed() ? "held" : "free", now.isUsed() ? used(now) : "no permit is held", null));
            now.holds().forEach(hold -> changes.add(new Change("held", "held by " + holder(hold), hold)));
            if (now.waiting() > 0) {
                changes.add(new Change("waiting", waiting(now), null));
            }
        } else {
            add(changes, last, now, Duration.ofNanos(nowNanos - beforeNanos));
        }
        before = now;
        beforeNanos = nowNanos;
        return changes;
    }

    private static void add(List<Change> changes, PermitsState last, PermitsState now, Duration since) {
        for (PermitsState.Hold hold : last.holds()) {
            if (now.hold(hold.holder()).isEmpty()) {
                changes.add(
                        LockChanges.ranOut(hold.remaining(), since)
                                ? new Change(
                                        "lost", "lost by " + holder(hold) + ": its lease ran out; " + used(now), hold)
                                : new Change(
                                        "released",
                                        "released by " + holder(hold) + ", or taken away; " + used(now),
                                        hold));
            }
        }
        for (PermitsState.Hold hold : now.holds()) {
            if (last.hold(hold.holder()).isEmpty()) {
                changes.add(new Change("acquired", "acquired by " + holder(hold) + "; " + used(now), hold));
            }
        }
        if (last.waiting() != now.waiting()) {
            changes.add(new Change("waiting", waiting(now), null));
        }
    }

    private static String holder(PermitsState.Hold hold) {
        return hold.title() + (hold.permits() == 1 ? "" : " with " + hold.permits() + " permits");
    }

    private static String used(PermitsState state) {
        return state.used() == 1 ? "1 permit is held" : state.used() + " permits are held";
    }

    private static String waiting(PermitsState state) {
        return state.waiting() == 1 ? "1 request waits" : state.waiting() + " requests wait";
    }
}
