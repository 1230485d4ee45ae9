package io.holdfast.redis;

import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The messages for this client: one connection for all locks, subscribed to the client's own channel and, now and then,
 * to some of Redisson's.
 *
 * <p>On the client's channel there are {@code g <holder id> …}: granted, see {@code passOn} in common.lua, {@code c <holder
 * id> <name>}: somebody waits behind this holder, and {@code r <holder id> <name>}: released, and this id is the first
 * that waits. Without the connection nothing arrives, and waiters poll.
 */
final class RedisMessages extends RedisPubSubAdapter<String, String>
        implements RedisConnectionStateListener, RedissonReleases.Channels {

    private final String ownChannel;
    private final TimeSource time;
    private final RedissonReleases redisson;
    private volatile @Nullable StoreListener listener;
    private volatile @Nullable RedisPubSubAsyncCommands<String, String> commands;

    /** Whether the connection was lost since the subscription was last confirmed. */
    private volatile boolean missed;

    /**
     * Since when the connection has been unbroken; in the future while there is none. What arrives on it comes from one
     * run of one server, which was a master when it ran the script that sent it.
     */
    private volatile long connectedNanos;

    RedisMessages(String ownChannel, TimeSource time) {
        this.ownChannel = ownChannel;
        this.time = time;
        this.redisson = new RedissonReleases(this, name -> {
            StoreListener receiver = listener;
            if (receiver != null) {
                receiver.released(name);
            }
        });
    }

    void listen(StoreListener receiver) {
        listener = receiver;
    }

    /** Nothing is told, and nothing sent, from now on. */
    void stop() {
        listener = null;
        commands = null;
    }

    RedissonReleases redisson() {
        return redisson;
    }

    /** Begins to receive on this connection. The stage completes when the subscription is confirmed. */
    CompletionStage<Void> attach(StatefulRedisPubSubConnection<String, String> connection) {
        connection.addListener((io.lettuce.core.pubsub.RedisPubSubListener<String, String>) this);
        connection.addListener((RedisConnectionStateListener) this);
        connectedNanos = time.nanoTime();
        commands = connection.async();
        return subscribe(ownChannel);
    }

    /**
     * Subscribes again, which changes nothing where the subscription stands: a sign of life that also mends a
     * subscription which failed after a reconnect.
     */
    void beat() {
        subscribe(ownChannel);
    }

    /** Messages may have been lost elsewhere, too. */
    void reconnected() {
        StoreListener receiver = listener;
        if (receiver != null) {
            receiver.reconnected();
        }
    }

    @Override
    public CompletionStage<Void> subscribe(String channel) {
        RedisPubSubAsyncCommands<String, String> connected = commands;
        return connected == null ? new CompletableFuture<>() : connected.subscribe(channel);
    }

    @Override
    public void unsubscribe(String channel) {
        RedisPubSubAsyncCommands<String, String> connected = commands;
        if (connected != null) {
            var unused = connected.unsubscribe(channel);
        }
    }

    @Override
    public void message(String channel, String message) {
        if (!channel.equals(ownChannel)) {
            redisson.message(channel);
            return;
        }
        StoreListener receiver = listener;
        int space = message.indexOf(' ', 2);
        if (receiver == null || space < 0) {
            return;
        }
        if (message.startsWith("g ")) {
            PushedGrant grant = grant(message);
            if (grant != null) {
                receiver.granted(grant);
            }
        } else if (message.startsWith("c ")) {
            receiver.contended(message.substring(space + 1), message.substring(2, space));
        } else if (message.startsWith("r ")) {
            receiver.released(message.substring(space + 1));
        }
    }

    /** Null if it is none of ours: anybody may publish anything. */
    private @Nullable PushedGrant grant(String message) {
        // The name comes last, because there may be spaces in it.
        String[] parts = message.split(" ", 8);
        if (parts.length < 8) {
            return null;
        }
        try {
            return new PushedGrant(
                    parts[7],
                    parts[1],
                    Long.parseLong(parts[2]),
                    Integer.parseInt(parts[3]),
                    Long.parseLong(parts[4]),
                    Long.parseLong(parts[5]),
                    Long.parseLong(parts[6]),
                    connectedNanos);
        } catch (NumberFormatException e) {
            return null;
        }
    }

    @Override
    public void subscribed(String channel, long count) {
        if (missed && channel.equals(ownChannel)) {
            missed = false;
            reconnected();
        }
    }

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
        connectedNanos = time.nanoTime();
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
        connectedNanos = time.nanoTime() + Duration.ofDays(365).toNanos();
        missed = true;
    }
}
