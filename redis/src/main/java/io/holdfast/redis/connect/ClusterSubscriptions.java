package io.holdfast.redis.connect;

import io.holdfast.redis.connect.WantedChannel.ChannelKey;
import io.holdfast.redis.server.Log;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.SlotTags;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The channels of one client in a cluster, each subscribed to at the master of its slot, and again at the next one when the
 * slot moves: the number of receivers that PUBLISH and SPUBLISH answer counts only those at the node that publishes, and
 * sharded messages go nowhere else.
 *
 * <ul>
 *   <li>Grants: one channel for the client and slot, {@code <prefix>:c:{<tag of the slot>}:<client id>}; sharded on
 *       servers 7.0 and newer. Subscribed to before this client waits in the slot, and until nobody has for a minute.
 *   <li>"Somebody waits behind you": one plain channel for the client, {@code <prefix>:c:<client id>}. A holder, who knows
 *       not whether anybody will ever wait, need not subscribe in each slot where it holds something; the message is rare,
 *       so it may go to all nodes.
 *   <li>Redisson's, see {@code RedissonChannels}.
 * </ul>
 *
 * <p>The driver's own repetition of subscriptions is not relied upon: it names all sharded channels in one command, which
 * a cluster refuses if they are of several slots.
 */
public final class ClusterSubscriptions implements Subscriptions, NodeMessages.Owner {

    /** The cluster as this class needs it. */
    interface Nodes {
        /** The address of a slot's master; null if nobody serves the slot. */
        @Nullable
        String masterOf(int slot);

        List<String> masters();

        CompletionStage<StatefulRedisPubSubConnection<String, String>> connectMessages(String node);

        /** The map of slots may have changed. */
        void refresh();
    }

    /** Messages of several slots that move together are missed once, not a thousand times. */
    private static final long MISSED_DELAY_NANOS = 20_000_000;

    private static final long UNUSED_NANOS = 60_000_000_000L;

    private final Nodes nodes;
    private final String clientChannels;
    private final String clientId;
    private final Publishing publishing;
    private final Receiver receiver;
    private final TimeSource time;
    private final Duration timeout;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<ChannelKey, WantedChannel> wanted = new HashMap<>(); // by lock
    private final Map<String, NodeMessages> links = new HashMap<>(); // by lock; of nodes
    private boolean missedSoon; // by lock
    private volatile boolean stopped;

    ClusterSubscriptions(
            Nodes nodes,
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
     * Subscribes to the client's channel. Completes also if that cannot be done now, because nobody serves its slot, or its
     * master does not answer: it is done later then, and until then a holder learns at its renewals that others wait. Fails
     * only if the server refuses.
     */
    CompletionStage<Void> start() {
        String channel = clientChannels + clientId;
        return soon(want(new ChannelKey(channel, false), RedisKeys.slot(channel), false))
                .handle((ok, error) -> {
                    Throwable cause = RedisErrors.unwrap(error);
                    if (cause instanceof RedisCommandExecutionException refusal) {
                        throw refusal;
                    }
                    if (cause != null) {
                        Log.LOG.log(
                                System.Logger.Level.DEBUG, "The channel " + channel + " is subscribed to later", cause);
                    }
                    return null;
                });
    }

    @Override
    public String grantChannels(String name) {
        return grantChannels(RedisKeys.slot(name));
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
        return soon(want(grants(slot), slot, true));
    }

    /** Fails after the timeout: a subscription that is lost on its way stays wanted, but nobody shall wait for it. */
    private CompletionStage<Void> soon(CompletableFuture<Void> step) {
        CompletableFuture<Void> bounded = new CompletableFuture<>();
        TimeSource.Timer timer = time.schedule(
                timeout.toNanos(),
                () -> bounded.completeExceptionally(new IllegalStateException("not subscribed within " + timeout)));
        CompletionStage<Void> stage = step;
        stage.whenComplete((ok, error) -> {
            timer.cancel();
            if (error == null) {
                bounded.complete(null);
            } else {
                bounded.completeExceptionally(error);
            }
        });
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
        List<CompletableFuture<Void>> steps = new ArrayList<>();
        // Always: clients that keep locks without scripts, and hints, use plain messages, which go to all nodes.
        steps.add(want(new ChannelKey(channel, false), RedisKeys.slot(name), false));
        if (publishing == Publishing.SHARDED_AND_REDISSON_BOTH
                || publishing == Publishing.SHARDED_AND_REDISSON_SHARDED) {
            steps.add(want(new ChannelKey(channel, true), RedisKeys.slot(channel), false));
        }
        return CompletableFuture.allOf(steps.toArray(new CompletableFuture<?>[0]));
    }

    @Override
    public void unsubscribe(String channel) {
        drop(new ChannelKey(channel, false));
        drop(new ChannelKey(channel, true));
    }

    @Override
    public void beat() {
        List<NodeMessages> alive;
        lock.lock();
        try {
            long now = time.nanoTime();
            List<ChannelKey> unused = new ArrayList<>();
            for (WantedChannel one : wanted.values()) {
                if (one.ends && now - one.usedNanos > UNUSED_NANOS) {
                    unused.add(one.key);
                }
            }
            unused.forEach(this::drop);
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

    /** Subscribes whatever is not subscribed to where it should be. */
    void mapChanged() {
        if (stopped) {
            return;
        }
        Set<String> masters = new HashSet<>(nodes.masters());
        List<NodeMessages> left = new ArrayList<>();
        lock.lock();
        try {
            for (WantedChannel one : wanted.values()) {
                var unused = place(one);
            }
            links.values().removeIf(link -> {
                boolean gone = !masters.contains(link.node)
                        && wanted.values().stream().noneMatch(one -> link.node.equals(one.node));
                if (gone) {
                    left.add(link);
                }
                return gone;
            });
        } finally {
            lock.unlock();
        }
        left.forEach(NodeMessages::close);
    }

    private String grantChannels(int slot) {
        return clientChannels + "{" + SlotTags.of(slot) + "}:";
    }

    private ChannelKey grants(int slot) {
        return new ChannelKey(grantChannels(slot) + clientId, publishing.sharded());
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
                link.send(key, false);
            }
        } finally {
            lock.unlock();
        }
    }

    /** By lock. Sends the subscription to the slot's master, unless it was sent there before. Completes when it stands. */
    private CompletableFuture<Void> place(WantedChannel one) {
        String master = nodes.masterOf(one.slot);
        if (master != null && master.equals(one.node)) {
            return one.heard;
        }
        String before = one.node;
        lost(one);
        CompletableFuture<Void> heard = one.heard;
        if (master == null || stopped) {
            failed(one, new IllegalStateException("nobody serves slot " + one.slot));
            return heard;
        }
        NodeMessages old = before == null ? null : links.get(before);
        if (old != null && !one.key.sharded()) {
            old.send(one.key, false);
        }
        one.node = master;
        NodeMessages link =
                links.computeIfAbsent(master, node -> new NodeMessages(node, nodes.connectMessages(node), this, time));
        link.send(one.key, true).whenComplete((ok, error) -> answered(one, master, error));
        return heard;
    }

    private void answered(WantedChannel one, String node, @Nullable Throwable error) {
        CompletableFuture<Void> heard = null;
        lock.lock();
        try {
            if (!node.equals(one.node) || wanted.get(one.key) != one) {
                return; // Sent elsewhere meanwhile, or not wanted any more.
            }
            if (error != null) {
                one.node = null;
                failed(one, error);
            } else {
                one.confirmed = true;
                one.confirmedNanos = time.nanoTime();
                if (one.interrupted) {
                    one.interrupted = false;
                    missed();
                }
                heard = one.heard;
            }
        } finally {
            lock.unlock();
        }
        if (heard != null) {
            heard.complete(null);
        } else {
            nodes.refresh();
        }
    }

    /** By lock. It is tried again at the next beat, or when somebody asks. */
    private void failed(WantedChannel one, Throwable error) {
        CompletableFuture<Void> heard = one.heard;
        one.heard = new CompletableFuture<>();
        // Not under the lock, and not by whoever asks just now.
        time.schedule(0, () -> heard.completeExceptionally(new CompletionException(error)));
    }

    /** By lock. */
    private void lost(WantedChannel one) {
        if (one.confirmed) {
            one.confirmed = false;
            one.interrupted = true;
            one.heard = new CompletableFuture<>();
        }
        one.node = null;
    }

    /** By lock. */
    private void missed() {
        if (!missedSoon) {
            missedSoon = true;
            time.schedule(MISSED_DELAY_NANOS, () -> {
                lock.lock();
                try {
                    missedSoon = false;
                } finally {
                    lock.unlock();
                }
                receiver.missed();
            });
        }
    }

    /**
     * A reconnect repeats what nobody wants any more, if our UNSUBSCRIBE was not sent, or was lost. It has to end: scripts take
     * whoever listens to Redisson's channel for one who waits.
     */
    @Override
    public void subscribed(NodeMessages at, ChannelKey key) {
        lock.lock();
        try {
            WantedChannel one = wanted.get(key);
            if (one == null || !at.node.equals(one.node)) {
                at.send(key, false);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void message(NodeMessages from, ChannelKey key, String message) {
        // A plain subscription does not end when the slot moves: its grants are confirmed.
        long since = key.sharded() ? sameClockSince(from, key) : time.nanoTime() + UNUSED_NANOS;
        receiver.message(key.channel(), message, since);
    }

    private long sameClockSince(NodeMessages from, ChannelKey key) {
        lock.lock();
        try {
            WantedChannel one = wanted.get(key);
            return one != null && one.confirmed && from.node.equals(one.node)
                    ? one.confirmedNanos
                    : time.nanoTime() + UNUSED_NANOS;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void ended(NodeMessages at, String channel) {
        lock.lock();
        try {
            WantedChannel one = wanted.get(new ChannelKey(channel, true));
            if (one == null || !at.node.equals(one.node) || !one.confirmed) {
                return;
            }
            lost(one);
        } finally {
            lock.unlock();
        }
        nodes.refresh();
    }

    @Override
    public void disconnected(NodeMessages from) {
        interrupted(from);
        nodes.refresh();
    }

    @Override
    public void connected(NodeMessages to) {
        interrupted(to);
        mapChanged();
    }

    private void interrupted(NodeMessages at) {
        lock.lock();
        try {
            for (WantedChannel one : wanted.values()) {
                if (at.node.equals(one.node)) {
                    lost(one);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void unreachable(NodeMessages link) {
        lock.lock();
        try {
            links.remove(link.node, link);
        } finally {
            lock.unlock();
        }
    }
}
