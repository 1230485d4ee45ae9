package io.holdfast.redis;

import io.holdfast.spi.StoreListener;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The messages for this client: one connection for all locks, subscribed to the client's own channel and, now and then,
 * to some of Redisson's.
 *
 * <p>On the client's channel there are {@code g <holder id> <name>}: granted, and {@code c <holder id> <name>}: somebody
 * waits behind this holder. Without the connection nothing arrives, and waiters poll.
 */
final class RedisMessages extends RedisPubSubAdapter<String, String>
        implements RedisConnectionStateListener, RedissonReleases.Channels {

    private final String ownChannel;
    private final RedissonReleases redisson;
    private volatile @Nullable StoreListener listener;
    private volatile @Nullable RedisPubSubAsyncCommands<String, String> commands;

    /** Whether the connection was lost since the subscription was last confirmed. */
    private volatile boolean missed;

    RedisMessages(String ownChannel) {
        this.ownChannel = ownChannel;
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
        String holderId = message.substring(2, space);
        String name = message.substring(space + 1);
        if (message.startsWith("g ")) {
            receiver.granted(name, holderId);
        } else if (message.startsWith("c ")) {
            receiver.contended(name, holderId);
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
    public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
        missed = true;
    }
}
