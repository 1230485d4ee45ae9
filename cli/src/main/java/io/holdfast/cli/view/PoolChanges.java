package io.holdfast.cli.view;

import io.holdfast.cli.view.PoolState.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tells what happened to permits or a read-write lock between two answers of the store. Not thread-safe. */
public final class PoolChanges {

    /**
     * One change.
     *
     * @param event in one word
     * @param text for people, not escaped
     * @param hold the hold that began or ended; null if the change is of another kind
     */
    public record Change(String event, String text, PoolState.@Nullable Hold hold) {}

    private @Nullable PoolState before;
    private long beforeNanos;

    /** Takes the next answer. Returns the changes since the last one, or for the first answer what it says. */
    public List<Change> next(PoolState now, long nowNanos) {
        List<Change> changes = new ArrayList<>();
        PoolState last = before;
        if (last == null) {
            changes.add(new Change(now.isUsed() ? "held" : "free", first(now), null));
            now.holds().forEach(hold -> changes.add(new Change("held", "held by " + holder(now, hold), hold)));
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

    private static void add(List<Change> changes, PoolState last, PoolState now, Duration since) {
        for (PoolState.Hold hold : last.holds()) {
            if (now.hold(hold.holder()).isEmpty()) {
                changes.add(
                        LockChanges.ranOut(hold.remaining(), since)
                                ? new Change(
                                        "lost",
                                        "lost by " + holder(last, hold) + ": its lease ran out; " + now.held(),
                                        hold)
                                : new Change(
                                        "released",
                                        "released by " + holder(last, hold) + ", or taken away; " + now.held(),
                                        hold));
            }
        }
        for (PoolState.Hold hold : now.holds()) {
            if (last.hold(hold.holder()).isEmpty()) {
                changes.add(new Change("acquired", "acquired by " + holder(now, hold) + "; " + now.held(), hold));
            }
        }
        if (last.waiting() != now.waiting()) {
            changes.add(new Change("waiting", waiting(now), null));
        }
    }

    private static String first(PoolState now) {
        return now.isUsed() || now.kind() == Kind.READ_WRITE ? now.held() : "no permit is held";
    }

    private static String holder(PoolState state, PoolState.Hold hold) {
        if (state.kind() == Kind.READ_WRITE) {
            return hold.title() + (hold.isWriter() ? " to write" : " to read");
        }
        return hold.title() + (hold.permits() == 1 ? "" : " with " + hold.permits() + " permits");
    }

    private static String waiting(PoolState state) {
        return state.waiting() == 1 ? "1 request waits" : state.waiting() + " requests wait";
    }
}
