package io.holdfast.redis;

import io.holdfast.spi.TimeSource;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.RedisPubSubListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.net.SocketAddress;
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
 *   <li>Redisson's, see {@link RedissonChannels}.
 * </ul>
 *
 * <p>The driver's own repetition of subscriptions is not relied upon: it names all sharded channels in one command, which
 * a cluster refuses if they are of several slots.
 */
final class ClusterSubscriptions implements Subscriptions {

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

    private record Key(String channel, boolean sharded) {}

    /** A channel that shall be subscribed to. Its fields are guarded by {@link #lock}. */
    private static final class Wanted {
        final Key key;
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

        Wanted(Key key, int slot, boolean ends) {
            this.key = key;
            this.slot = slot;
            this.ends = ends;
        }
    }

    private final Nodes nodes;
    private final String clientChannels;
    private final String clientId;
    private final Publishing publishing;
    private final Receiver receiver;
    private final TimeSource time;
    private final Duration timeout;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Key, Wanted> wanted = new HashMap<>(); // by lock
    private final Map<String, Link> links = new HashMap<>(); // by lock; of nodes
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

    CompletionStage<Void> start() {
        String channel = clientChannels + clientId;
        return soon(want(new Key(channel, false), SlotHash.getSlot(channel), false));
    }

    @Override
    public String grantChannels(String name) {
        return grantChannels(SlotHash.getSlot(name));
    }

    @Override
    public boolean ready(String name) {
        lock.lock();
        try {
            Wanted grants = wanted.get(grants(SlotHash.getSlot(name)));
            return grants != null && grants.confirmed;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public CompletionStage<Void> prepare(String name) {
        int slot = SlotHash.getSlot(name);
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
            Wanted grants = wanted.get(grants(SlotHash.getSlot(name)));
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
        steps.add(want(new Key(channel, false), SlotHash.getSlot(name), false));
        if (publishing == Publishing.SHARDED_AND_REDISSON_BOTH
                || publishing == Publishing.SHARDED_AND_REDISSON_SHARDED) {
            steps.add(want(new Key(channel, true), SlotHash.getSlot(channel), false));
        }
        return CompletableFuture.allOf(steps.toArray(new CompletableFuture<?>[0]));
    }

    @Override
    public void unsubscribe(String channel) {
        drop(new Key(channel, false));
        drop(new Key(channel, true));
    }

    @Override
    public void beat() {
        List<Link> alive;
        lock.lock();
        try {
            long now = time.nanoTime();
            List<Key> unused = new ArrayList<>();
            for (Wanted one : wanted.values()) {
                if (one.ends && now - one.usedNanos > UNUSED_NANOS) {
                    unused.add(one.key);
                }
            }
            unused.forEach(this::drop);
            alive = new ArrayList<>(links.values());
        } finally {
            lock.unlock();
        }
        alive.forEach(Link::ping);
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
        List<Link> left = new ArrayList<>();
        lock.lock();
        try {
            for (Wanted one : wanted.values()) {
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
        left.forEach(Link::close);
    }

    private String grantChannels(int slot) {
        return clientChannels + "{" + SlotTags.of(slot) + "}:";
    }

    private Key grants(int slot) {
        return new Key(grantChannels(slot) + clientId, publishing.sharded());
    }

    private CompletableFuture<Void> want(Key key, int slot, boolean ends) {
        lock.lock();
        try {
            Wanted one = wanted.computeIfAbsent(key, k -> new Wanted(k, slot, ends));
            one.usedNanos = time.nanoTime();
            return place(one);
        } finally {
            lock.unlock();
        }
    }

    private void drop(Key key) {
        lock.lock();
        try {
            Wanted one = wanted.remove(key);
            Link link = one == null || one.node == null ? null : links.get(one.node);
            if (link != null) {
                link.send(key, false);
            }
        } finally {
            lock.unlock();
        }
    }

    /** By lock. Sends the subscription to the slot's master, unless it was sent there before. Completes when it stands. */
    private CompletableFuture<Void> place(Wanted one) {
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
        Link old = before == null ? null : links.get(before);
        if (old != null && !one.key.sharded()) {
            old.send(one.key, false);
        }
        one.node = master;
        Link link = links.computeIfAbsent(master, Link::new);
        link.send(one.key, true).whenComplete((ok, error) -> answered(one, master, error));
        return heard;
    }

    private void answered(Wanted one, String node, @Nullable Throwable error) {
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
    private void failed(Wanted one, Throwable error) {
        CompletableFuture<Void> heard = one.heard;
        one.heard = new CompletableFuture<>();
        // Not under the lock, and not by whoever asks just now.
        time.schedule(0, () -> heard.completeExceptionally(new CompletionException(error)));
    }

    /** By lock. */
    private void lost(Wanted one) {
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

    /** A connection for messages to one node. It reconnects by itself. */
    private final class Link extends RedisPubSubAdapter<String, String> implements RedisConnectionStateListener {

        final String node;
        private final CompletionStage<StatefulRedisPubSubConnection<String, String>> connecting;

        Link(String node) {
            this.node = node;
            this.connecting = nodes.connectMessages(node);
            connecting.whenComplete((connection, error) -> {
                if (error == null) {
                    connection.addListener((RedisPubSubListener<String, String>) this);
                    connection.addListener((RedisConnectionStateListener) this);
                } else {
                    // Not here: whoever made this link is still putting it into the map.
                    time.schedule(0, this::forget);
                }
            });
        }

        CompletionStage<Void> send(Key key, boolean subscribe) {
            return connecting.thenCompose(connection -> {
                RedisPubSubAsyncCommands<String, String> commands = connection.async();
                if (subscribe) {
                    return key.sharded() ? commands.ssubscribe(key.channel()) : commands.subscribe(key.channel());
                }
                return key.sharded() ? commands.sunsubscribe(key.channel()) : commands.unsubscribe(key.channel());
            });
        }

        void ping() {
            connecting.thenAccept(connection -> {
                var unused = connection.async().ping();
            });
        }

        void close() {
            connecting.thenAccept(connection -> {
                var unused = connection.closeAsync();
            });
        }

        @Override
        public void message(String channel, String message) {
            // A plain subscription does not end when the slot moves: its grants are confirmed.
            receiver.message(channel, message, time.nanoTime() + UNUSED_NANOS);
        }

        @Override
        public void smessage(String channel, String message) {
            receiver.message(channel, message, sameClockSince(new Key(channel, true)));
        }

        private long sameClockSince(Key key) {
            lock.lock();
            try {
                Wanted one = wanted.get(key);
                return one != null && one.confirmed && node.equals(one.node)
                        ? one.confirmedNanos
                        : time.nanoTime() + UNUSED_NANOS;
            } finally {
                lock.unlock();
            }
        }

        /** Asked for, or because the slot has moved away. */
        @Override
        public void sunsubscribed(String channel, long count) {
            lock.lock();
            try {
                Wanted one = wanted.get(new Key(channel, true));
                if (one == null || !node.equals(one.node) || !one.confirmed) {
                    return;
                }
                lost(one);
            } finally {
                lock.unlock();
            }
            nodes.refresh();
        }

        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
            interrupted();
            nodes.refresh();
        }

        @Override
        public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
            interrupted();
            mapChanged();
        }

        private void interrupted() {
            lock.lock();
            try {
                for (Wanted one : wanted.values()) {
                    if (node.equals(one.node)) {
                        lost(one);
                    }
                }
            } finally {
                lock.unlock();
            }
        }

        private void forget() {
            lock.lock();
            try {
                links.remove(node, this);
            } finally {
                lock.unlock();
            }
        }
    }
}
