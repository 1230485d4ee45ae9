package io.holdfast.zookeeper;

import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * What a waiter knows of the queue without asking: while its watch of the node before it stands, nothing has happened that
 * concerns it. So the regular signs of life of the engine cost no request.
 *
 * <p>ZooKeeper promises to tell of a watched deletion, also of one during a disconnection, after it. Nothing rests on that
 * but the waiter's patience: it looks again after a reconnection, and now and then without a reason.
 *
 * <p>All but {@link #watchStands} belongs to the contender's turn.
 */
final class PredecessorView {

    /** So many signs of life in a row are taken without a look: the longest that a missed message can cost. */
    private static final int POLLS_PER_LOOK = 5;

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final TimeSource time;
    private @Nullable Busy last;
    private long askedNanos;
    private long lookedNanos;
    private int connection;

    /** The node whose deletion the server will tell. Set by its answer, on any thread. */
    private volatile String watched = "";

    PredecessorView(TimeSource time) {
        this.time = time;
    }

    void watchStands(String node) {
        watched = node;
    }

    /** The queue was looked at. */
    Busy seen(Busy busy, int connection) {
        last = busy;
        lookedNanos = time.nanoTime();
        askedNanos = lookedNanos;
        this.connection = connection;
        return busy;
    }

    /**
     * The answer to somebody who asks at the usual interval, or null if it takes a look: also for one who asks sooner, as
     * he has a reason.
     */
    @Nullable
    Busy known(@Nullable String predecessor, int connection, long pollMillis) {
        long now = time.nanoTime();
        boolean regular = now - askedNanos >= pollMillis * NANOS_PER_MILLI / 2;
        askedNanos = now;
        boolean fresh = now - lookedNanos < POLLS_PER_LOOK * pollMillis * NANOS_PER_MILLI;
        boolean told = predecessor != null && predecessor.equals(watched) && connection == this.connection;
        return regular && fresh && told ? last : null;
    }
}
