package io.holdfast.zookeeper;

import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.TimeSource;
import io.holdfast.zookeeper.QueueSnapshot.Awaited;
import org.jspecify.annotations.Nullable;

/**
 * What a waiter knows of the queue without a request: as long as the event for which it waits is watched and was not
 * reported, nothing has happened that concerns the waiter. So the engine's regular polls cost no request.
 *
 * <p>ZooKeeper promises to report a watched event, after the reconnection if it happened during a disconnection.
 * Only the delay depends on that: the waiter looks after each reconnection, and now and then without a reason.
 *
 * <p>Only the work of the contender's {@link SerialQueue} uses it, except {@link #watchStands}.
 */
final class PlaceView {

    /** The number of polls for which one look is enough: the longest delay by a missed message. */
    private static final int POLLS_PER_LOOK = 5;

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final TimeSource time;
    private @Nullable Busy last;
    private long askedNanos;
    private long lookedNanos;
    private int reconnections;

    /** The event that the server will report; null if there is none. Set by the server's answer, on any thread. */
    private volatile @Nullable Awaited watched;

    PlaceView(TimeSource time) {
        this.time = time;
    }

    void watchStands(Awaited event) {
        watched = event;
    }

    void watchEnds() {
        watched = null;
    }

    /** Notes the answer that a look at the queue gave. */
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
    Busy known(@Nullable Awaited awaited, int reconnections, long pollMillis) {
        long now = time.nanoTime();
        boolean regular = now - askedNanos >= pollMillis * NANOS_PER_MILLI / 2;
        askedNanos = now;
        boolean fresh = now - lookedNanos < POLLS_PER_LOOK * pollMillis * NANOS_PER_MILLI;
        boolean watching = awaited != null && awaited.equals(watched) && reconnections == this.reconnections;
        return regular && fresh && watching ? last : null;
    }
}
