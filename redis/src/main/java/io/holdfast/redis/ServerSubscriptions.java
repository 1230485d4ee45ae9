package io.holdfast.redis;

import io.holdfast.spi.TimeSource;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.RedisPubSubListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One connection for the messages of all locks, subscribed to the client's own channel and, now and then, to some of
 * Redisson's. The driver subscribes again after a reconnect.
 */
final class ServerSubscriptions extends RedisPubSubAdapter<String, String>
        implements RedisConnectionStateListener, Subscriptions {

    private static final CompletionStage<Void> DONE = CompletableFuture.completedFuture(null);

    private static final long NEVER_NANOS = Duration.ofDays(365).toNanos();

    private final String clientChannels;
    private final String ownChannel;
    private final Receiver receiver;
    private final TimeSource time;
    private volatile @Nullable RedisPubSubAsyncCommands<String, String> commands;

    /** Whether the connection was lost since the subscription was last confirmed. */
    private volatile boolean missed;

    /**
     * Since when the connection has been unbroken; in the future while there is none. What arrives on it comes from one
     * run of one server, which was a master when it ran the script that sent it.
     */
    private volatile long connectedNanos;

    ServerSubscriptions(RedisKeys keys, String clientId, Receiver receiver, TimeSource time) {
        this.time = time;
        this.connectedNanos = time.nanoTime() + NEVER_NANOS;
        this.clientChannels = keys.clientChannels();
        this.ownChannel = clientChannels + clientId;
        this.receiver = receiver;
    }

    /** Begins to receive on this connection. The stage completes when the subscription is confirmed. */
    CompletionStage<Void> attach(StatefulRedisPubSubConnection<String, String> connection) {
        connection.addListener((RedisPubSubListener<String, String>) this);
        connection.addListener((RedisConnectionStateListener) this);
        connectedNanos = time.nanoTime();
        commands = connection.async();
        return subscribe("", ownChannel);
    }

    @Override
    public String grantChannels(String name) {
        return clientChannels;
    }

    @Override
    public boolean ready(String name) {
        return true;
    }

    @Override
    public CompletionStage<Void> prepare(String name) {
        return DONE;
    }

    @Override
    public void waiting(String name) {}

    /**
     * Subscribes again, which changes nothing where the subscription stands: a sign of life that also mends a
     * subscription which failed after a reconnect.
     */
    @Override
    public void beat() {
        subscribe("", ownChannel);
    }

    @Override
    public void stop() {
        commands = null;
    }

    @Override
    public CompletionStage<Void> subscribe(String name, String channel) {
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
        receiver.message(channel, message, connectedNanos);
    }

    @Override
    public void subscribed(String channel, long count) {
        if (missed && channel.equals(ownChannel)) {
            missed = false;
            receiver.missed();
        }
    }

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
        connectedNanos = time.nanoTime();
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
        connectedNanos = time.nanoTime() + NEVER_NANOS;
        missed = true;
    }
}
