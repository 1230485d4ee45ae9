package io.holdfast.redis.connect;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A channel that shall be subscribed to in a cluster. Its fields are guarded by the lock of {@link ClusterSubscriptions}. */
public final class WantedChannel {

    /** A channel of either kind. */
    record ChannelKey(String channel, boolean sharded) {}

    final ChannelKey key;
    final int slot;

    /** Grants of a slot, which end when nobody waits there; not the others. */
    final boolean ends;

    /** Where the subscription was sent last; null if nowhere, or lost since. */
    @Nullable
    String node;

    boolean confirmed;

    /** When it was. Who asked later asked this node, whose clock then stamped what this node sends. */
    long confirmedNanos;

    /** Whether it was confirmed before, so that messages may have been lost until it is again. */
    boolean interrupted;

    CompletableFuture<Void> heard = new CompletableFuture<>();
    long usedNanos;

    WantedChannel(ChannelKey key, int slot, boolean ends) {
        this.key = key;
        this.slot = slot;
        this.ends = ends;
    }
}
