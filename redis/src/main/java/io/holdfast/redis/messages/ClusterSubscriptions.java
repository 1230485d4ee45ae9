package io.holdfast.redis.messages;

import io.holdfast.redis.messages.WantedChannel.ChannelKey;
import io.holdfast.redis.server.Log;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.RedisCommandExecutionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the channels of one client in a cluster subscribed, each at the master of its slot, and at the next master when
 * the slot moves. PUBLISH and SPUBLISH count only the receivers at the node that publishes, and sharded messages reach
 * only these receivers.
 *
 * <ul>
 *   <li>Grants have one channel for each client and slot, {@code <prefix>:c:{<tag of the slot>}:<client id>}, sharded
 *       on servers 7.0 and newer. It is subscribed to before this client waits in the slot, and until this client has
 *       not waited there for a minute.
 *   <li>"A client waits behind you" has one plain channel for each client, {@code <prefix>:c:<client id>}. So a holder
 *       need not subscribe in each slot where it holds a lock; the message is rare, so it may go to all nodes.
 *   <li>Redisson's channels: see {@code RedissonChannels}.
 * </ul>
 *
 * <p>This class does not rely on the driver to repeat subscriptions: the driver names all sharded channels in one
 * command, which a cluster refuses if they belong to several slots.
 */
public final class ClusterSubscriptions implements Subscriptions {

    /** The window in which losses of messages are merged: slots that move together are one loss. */
    private static final long MISSED_DELAY_NANOS = 20_000_000;

    private static final long UNUSED_NANOS = 60_000_000_000L;

    private final ClusterNodes nodes;
    private final String clientChannels;
    private final String clientId;
    private final Publishing publishing;
    private final Receiver receiver;
    private final TimeSource time;
    private final Duration timeout;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<ChannelKey, WantedChannel> wanted = new HashMap<>(); // by lock
    private final Map<String, NodeMessages> links = new HashMap<>(); // by lock; by node
    private final AtomicBoolean missedSoon = new AtomicBoolean();
    private volatile boolean stopped;

    public ClusterSubscriptions(
            ClusterNodes nodes,
            RedisKeys keys,
            String clientId,
            Publishing publishing,
            Receiver receiver,
            TimeSource time,
            Duration timeout) {
        this.nodes = nodes;
        this.clientChannels = keys.clientChannels();
        this.clientId = clientId;
        this.publishing = publishing;
        this.receiver = receiver;
        this.time = time;
        this.timeout = timeout;
    }

    /**
     * Subscribes to the client's channel. Fails only if the server refuses. Completes normally even when no node serves
     * the channel's slot, or its master does not answer: the subscription follows later, and until then holders learn
     * from their renewals that other clients wait.
     */
    public CompletionStage<Void> start() {
        String channel = clientChannels + clientId;
        return bounded(want(new ChannelKey(channel, false), RedisKeys.slot(channel), false))
                .handle((ok, error) -> {
                    Throwable cause = RedisErrors.unwrap(error);
                    if (cause instanceof RedisCommandExecutionException refusal) {
                        throw refusal;
                    }
                    if (cause != null) {
                        Log.LOG.log(System.Logger.Level.DEBUG, "Subscribes to " + channel + " later", cause);
                    }
                    return null;
                });
    }

    @Override
    public boolean ready(String name) {
        lock.lock();
        try {
            WantedChannel grants = wanted.get(grants(RedisKeys.slot(name)));
            return grants != null && grants.confirmed;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public CompletionStage<Void> prepare(String name) {
        int slot = RedisKeys.slot(name);
        return bounded(want(grants(slot), slot, true));
    }

    /** Returns a stage that fails after the timeout, while the channel stays wanted: no caller waits forever. */
    private CompletionStage<Void> bounded(CompletableFuture<Void> confirmation) {
        CompletableFuture<Void> bounded = confirmation.copy();
        TimeSource.Timer timer = time.schedule(
                timeout.toNanos(),
                () -> bounded.completeExceptionally(new IllegalStateException("not subscribed within " + timeout)));
        var unused = bounded.whenComplete((ok, error) -> timer.cancel());
        return bounded;
    }

    @Override
    public void waiting(String name) {
        lock.lock();
        try {
            WantedChannel grants = wanted.get(grants(RedisKeys.slot(name)));
            if (grants != null) {
                grants.usedNanos = time.nanoTime();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public CompletionStage<Void> subscribe(String name, String channel) {
        // Hints and clients in mode commands use plain messages, which go to all nodes.
        CompletableFuture<Void> plain = want(new ChannelKey(channel, false), RedisKeys.slot(name), false);
        return publishing.releasesSharded()
                ? CompletableFuture.allOf(plain, want(new ChannelKey(channel, true), RedisKeys.slot(channel), false))
                : plain;
    }

    @Override
    public void unsubscribe(String channel) {
        drop(new ChannelKey(channel, false));
        drop(new ChannelKey(channel, true));
    }

    /** Keeps each connection alive, and repeats subscriptions that failed. Called at intervals. */
    public void beat() {
        List<NodeMessages> alive;
        lock.lock();
        try {
            long now = time.nanoTime();
            for (WantedChannel one : List.copyOf(wanted.values())) {
                if (one.ends && now - one.usedNanos > UNUSED_NANOS) {
                    drop(one.key);
                }
            }
            alive = new ArrayList<>(links.values());
        } finally {
            lock.unlock();
        }
        alive.forEach(NodeMessages::ping);
        mapChanged();
    }

    @Override
    public void stop() {
        stopped = true;
    }

    /** Subscribes each channel at its slot's master, and closes the links that no channel uses. */
    public void mapChanged() {
        if (stopped) {
            return;
        }
        List<String> masters = nodes.masters();
        List<NodeMessages> left = new ArrayList<>();
        lock.lock();
        try {
            for (WantedChannel one : wanted.values()) {
                var unused = place(one);
            }
            for (NodeMessages link : links.values()) {
                if (!masters.contains(link.node)
                        && wanted.values().stream().noneMatch(one -> link.node.equals(one.node))) {
                    left.add(link);
                }
            }
            links.values().removeAll(left);
        } finally {
            lock.unlock();
        }
        left.forEach(NodeMessages::close);
    }

    private ChannelKey grants(int slot) {
        return new ChannelKey(clientChannels + "{" + RedisKeys.slotTag(slot) + "}:" + clientId, publishing.sharded());
    }

    private CompletableFuture<Void> want(ChannelKey key, int slot, boolean ends) {
        lock.lock();
        try {
            WantedChannel one = wanted.computeIfAbsent(key, k -> new WantedChannel(k, slot, ends));
            one.usedNanos = time.nanoTime();
            return place(one);
        } finally {
            lock.unlock();
        }
    }

    private void drop(ChannelKey key) {
        lock.lock();
        try {
            WantedChannel one = wanted.remove(key);
            NodeMessages link = one == null || one.node == null ? null : links.get(one.node);
            if (link != null) {
                link.unsubscribe(key);
            }
        } finally {
            lock.unlock();
        }
    }

    /** By lock. Sends the subscription to the slot's master, unless it was sent there. Completes when confirmed. */
    private CompletableFuture<Void> place(WantedChannel one) {
        String master = nodes.masterOf(one.slot);
        if (master != null && master.equals(one.node)) {
            return one.confirmation;
        }
        String before = one.node;
        one.lost();
        CompletableFuture<Void> confirmation = one.confirmation;
        if (master == null || stopped) {
            one.failed(new IllegalStateException("no node serves slot " + one.slot), time);
            return confirmation;
        }
        NodeMessages old = before == null ? null : links.get(before);
        if (old != null && !one.key.sharded()) {
            old.unsubscribe(one.key);
        }
        one.node = master;
        NodeMessages link =
                links.computeIfAbsent(master, node -> new NodeMessages(node, nodes.connectMessages(node), this, time));
        link.subscribe(one.key).whenComplete((ok, error) -> answered(one, master, error));
        return confirmation;
    }

    private void answered(WantedChannel one, String node, @Nullable Throwable error) {
        CompletableFuture<Void> confirmation = null;
        lock.lock();
        try {
            if (!node.equals(one.node) || wanted.get(one.key) != one) {
                return; // It was sent to another node, or is no longer wanted.
            }
            if (error != null) {
                one.failed(error, time);
            } else {
                if (one.confirm(time.nanoTime())) {
                    missed();
                }
                confirmation = one.confirmation;
            }
        } finally {
            lock.unlock();
        }
        if (confirmation != null) {
            confirmation.complete(null);
        } else {
            nodes.refresh();
        }
    }

    /** Notifies the receiver, after the window, that messages may have been lost. */
    private void missed() {
        if (missedSoon.compareAndSet(false, true)) {
            time.schedule(MISSED_DELAY_NANOS, () -> {
                missedSoon.set(false);
                receiver.missed();
            });
        }
    }

    /** By lock. Returns the channel if it is wanted at this node; otherwise null. */
    private @Nullable WantedChannel wantedAt(NodeMessages link, ChannelKey key) {
        WantedChannel one = wanted.get(key);
        return one != null && link.node.equals(one.node) ? one : null;
    }

    /**
     * Called on an I/O thread when a subscription is confirmed. Ends it if it is not wanted here: after a reconnect the
     * driver repeats a subscription whose UNSUBSCRIBE was lost. It must end, because scripts take each subscriber of
     * Redisson's channel for a waiting client.
     */
    void subscribed(NodeMessages at, ChannelKey key) {
        lock.lock();
        try {
            if (wantedAt(at, key) == null) {
                at.unsubscribe(key);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Called on an I/O thread. */
    void message(NodeMessages from, ChannelKey key, String message) {
        long sameClockSinceNanos = time.nanoTime() + UNUSED_NANOS;
        // A plain subscription stays when its slot moves, so its grants are dated by no clock.
        if (key.sharded()) {
            lock.lock();
            try {
                WantedChannel one = wantedAt(from, key);
                if (one != null && one.confirmed) {
                    sameClockSinceNanos = one.confirmedNanos;
                }
            } finally {
                lock.unlock();
            }
        }
        receiver.message(key.channel(), message, sameClockSinceNanos);
    }

    /** Called on an I/O thread when a sharded subscription has ended, as requested or because the slot moved away. */
    void ended(NodeMessages at, String channel) {
        lock.lock();
        try {
            WantedChannel one = wantedAt(at, new ChannelKey(channel, true));
            if (one == null || !one.confirmed) {
                return;
            }
            one.lost();
        } finally {
            lock.unlock();
        }
        nodes.refresh();
    }

    void disconnected(NodeMessages from) {
        interrupted(from);
        nodes.refresh();
    }

    void connected(NodeMessages to) {
        interrupted(to);
        mapChanged();
    }

    private void interrupted(NodeMessages at) {
        lock.lock();
        try {
            for (WantedChannel one : wanted.values()) {
                if (at.node.equals(one.node)) {
                    one.lost();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Called when the first connect of a link failed. */
    void unreachable(NodeMessages link) {
        lock.lock();
        try {
            links.remove(link.node, link);
        } finally {
            lock.unlock();
        }
    }
}
