package io.holdfast.redis.messages;

import io.holdfast.spi.TimeSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * A channel that this client wants to be subscribed to in a cluster. The lock of {@link ClusterSubscriptions} guards
 * its fields, and its methods are called with that lock.
 */
final class WantedChannel {

    /** A channel of either kind. */
    record ChannelKey(String channel, boolean sharded) {}

    final ChannelKey key;
    final int slot;

    /** Whether the subscription ends when this client does not use it: true for the grants of a slot. */
    final boolean ends;

    /** The node that was last asked to subscribe; null if none was, or if the subscription was lost since. */
    @Nullable
    String node;

    /** Whether {@link #node} has confirmed the subscription. */
    boolean confirmed;

    /** When it was confirmed. Requests sent later went to this node, whose clock then stamped its messages. */
    long confirmedNanos;

    /** Whether it was confirmed before: messages may then be lost until it is confirmed again. */
    boolean interrupted;

    /** Completes when the subscription is confirmed. */
    CompletableFuture<Void> confirmation = new CompletableFuture<>();

    /** When this client last needed the channel. */
    long usedNanos;

    WantedChannel(ChannelKey key, int slot, boolean ends) {
        this.key = key;
        this.slot = slot;
        this.ends = ends;
    }

    /** Records a confirmation. Returns whether messages may have been lost before it. */
    boolean confirm(long nowNanos) {
        boolean missed = interrupted;
        confirmed = true;
        confirmedNanos = nowNanos;
        interrupted = false;
        return missed;
    }

    /** Records that the subscription no longer stands. */
    void lost() {
        if (confirmed) {
            confirmed = false;
            interrupted = true;
            confirmation = new CompletableFuture<>();
        }
        node = null;
    }

    /** Fails the present confirmation. The next beat tries again, and so does the next caller. */
    void failed(Throwable error, TimeSource time) {
        CompletableFuture<Void> failing = confirmation;
        confirmation = new CompletableFuture<>();
        node = null;
        // Not with the lock, and not on the thread of the present caller.
        time.schedule(0, () -> failing.completeExceptionally(new CompletionException(error)));
    }
}
