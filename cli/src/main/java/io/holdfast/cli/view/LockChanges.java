package io.holdfast.cli.view;

import io.holdfast.LockState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tells what happened to a lock between two answers of the store. Not thread-safe. */
public final class LockChanges {

    /**
     * One change.
     *
     * @param event in one word
     * @param text for people, not escaped
     */
    public record Change(String event, String text) {}

    /** The largest difference between the travel times of two answers. */
    private static final Duration SLACK = Duration.ofMillis(100);

    private @Nullable LockState before;
    private long beforeNanos;

    /** Takes the next answer. Returns the changes since the last one, or for the first answer what it says. */
    public List<Change> next(LockState now, long nowNanos) {
        List<Change> changes = new ArrayList<>();
        LockState last = before;
        if (last == null) {
            changes.add(
                    now.isLocked()
                            ? new Change("held", "held by " + holder(now))
                            : new Change("free", "free" + queue(now)));
        } else {
            add(changes, last, now, Duration.ofNanos(nowNanos - beforeNanos));
        }
        before = now;
        beforeNanos = nowNanos;
        return changes;
    }

    private static void add(List<Change> changes, LockState last, LockState now, Duration since) {
        if (!last.holder().equals(now.holder())) {
            if (last.isLocked()) {
                changes.add(ended(last, since));
            }
            if (now.isLocked()) {
                changes.add(new Change("acquired", "acquired by " + holder(now)));
            }
        } else if (now.isLocked() && !last.fencingToken().equals(now.fencingToken())) {
            changes.add(new Change("token", "held on by " + holder(now)));
        }
        if (last.waitingClients() != now.waitingClients()) {
            changes.add(new Change("waiting", waiting(now)));
        }
    }

    /**
     * Returns whether a hold ended with its lease, and so was lost, not released.
     *
     * @param left what was left of the lease at the last answer
     * @param since the time from that answer to the present one
     */
    static boolean ranOut(Duration left, Duration since) {
        return left.compareTo(since.plus(SLACK)) <= 0;
    }

    private static Change ended(LockState last, Duration since) {
        String holder = last.holderTitle().orElse("");
        boolean ranOut = last.remaining().filter(left -> ranOut(left, since)).isPresent();
        return ranOut
                ? new Change("lost", "lost by " + holder + ": its lease ran out")
                : new Change("released", "released by " + holder + ", or taken away");
    }

    private static String holder(LockState state) {
        return state.holderTitle().orElse("")
                + (state.fencingToken().isPresent()
                        ? ", token " + state.fencingToken().getAsLong()
                        : "")
                + queue(state);
    }

    private static String queue(LockState state) {
        return state.waitingClients() == 0 ? "" : ", " + waiting(state);
    }

    private static String waiting(LockState state) {
        return state.waitingClients() == 1 ? "1 client waits" : state.waitingClients() + " clients wait";
    }
}
