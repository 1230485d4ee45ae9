package io.holdfast.zookeeper;

import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * What a waiter knows of the queue without asking: while its watch of the node before it stands, nothing has happened
 * that concerns it. So the regular polls of the engine cost no request.
 *
 * <p>ZooKeeper promises to report a watched deletion, even one during a disconnection, after it. Only the waiter's
 * patience rests on that: it looks after a reconnection, and now and then without a reason.
 *
 * <p>All but {@link #watchStands} belongs to the work of the contender's {@link SerialQueue}.
 */
final class PredecessorView {

    /** One look is enough for so many polls in a row: the longest that a missed message can cost. */
    private static final int POLLS_PER_LOOK = 5;

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final TimeSource time;
    private @Nullable Busy last;
    private long askedNanos;
    private long lookedNanos;
    private int reconnections;

    /** The node whose deletion the server will report. Set by the server's answer, on any thread. */
    private volatile String watched = "";

    PredecessorView(TimeSource time) {
        this.time = time;
    }

    void watchStands(String node) {
        watched = node;
    }

    /** The queue was looked at. */
    Busy seen(Busy busy, int reconnections) {
        last = busy;
        lookedNanos = time.nanoTime();
        askedNanos = lookedNanos;
        this.reconnections = reconnections;
        return busy;
    }

    /**
     * Returns the answer to a poll at the usual interval, or null if it takes a look. A poll that comes sooner has a
     * reason, so it takes a look.
     */
    @Nullable
    Busy known(@Nullable String predecessor, int reconnections, long pollMillis) {
        long now = time.nanoTime();
        boolean regular = now - askedNanos >= pollMillis * NANOS_PER_MILLI / 2;
        askedNanos = now;
        boolean fresh = now - lookedNanos < POLLS_PER_LOOK * pollMillis * NANOS_PER_MILLI;
        boolean watching = predecessor != null && predecessor.equals(watched) && reconnections == this.reconnections;
        return regular && fresh && watching ? last : null;
    }
}
