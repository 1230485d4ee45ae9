package io.holdfast.redis.messages;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.RedisPubSubListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a connection for messages to one server subscribed to the client's own channel. The driver subscribes again
 * after a reconnect.
 */
public abstract class ClientChannel extends RedisPubSubAdapter<String, String> implements RedisConnectionStateListener {

    private final String ownChannel;
    private volatile @Nullable RedisPubSubAsyncCommands<String, String> commands;

    /** Whether the connection was lost since the subscription was last confirmed. */
    private volatile boolean missed;

    protected ClientChannel(String ownChannel) {
        this.ownChannel = ownChannel;
    }

    /** Called when messages arrive again after some may have been lost. Runs on an I/O thread. */
    public abstract void resubscribed();

    /** Starts to receive on this connection. The stage completes when the subscription is confirmed. */
    public CompletionStage<Void> attach(StatefulRedisPubSubConnection<String, String> connection) {
        connection.addListener((RedisPubSubListener<String, String>) this);
        connection.addListener((RedisConnectionStateListener) this);
        commands = connection.async();
        return subscribeToOwn();
    }

    final CompletionStage<Void> subscribeToOwn() {
        return subscribe(ownChannel);
    }

    /**
     * Subscribes again. Keeps the connection alive, and repairs a subscription that failed after a reconnect.
     * Idempotent.
     */
    public final void beat() {
        var unused = subscribeToOwn();
    }

    /** Subscribes to a channel. The stage never completes if there is no connection yet, or after {@link #stop}. */
    final CompletionStage<Void> subscribe(String channel) {
        RedisPubSubAsyncCommands<String, String> connected = commands;
        return connected == null ? new CompletableFuture<>() : connected.subscribe(channel);
    }

    public final void unsubscribe(String channel) {
        RedisPubSubAsyncCommands<String, String> connected = commands;
        if (connected != null) {
            var unused = connected.unsubscribe(channel);
        }
    }

    /** Sends nothing from now on. */
    public final void stop() {
        commands = null;
    }

    @Override
    public void subscribed(String channel, long count) {
        if (missed && channel.equals(ownChannel)) {
            missed = false;
            resubscribed();
        }
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
        missed = true;
    }
}
