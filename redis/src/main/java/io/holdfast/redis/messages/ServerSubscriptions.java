package io.holdfast.redis.messages;

import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Holds the subscriptions at one server. One connection carries the messages of all locks; it is subscribed to the
 * client's own channel and, at times, to some of Redisson's.
 */
public final class ServerSubscriptions extends ClientChannel implements Subscriptions {

    private static final CompletionStage<Void> DONE = CompletableFuture.completedFuture(null);

    private static final int ATTEMPTS = 10;
    private static final long AGAIN_NANOS = 50_000_000;

    private static final long NEVER_NANOS = Duration.ofDays(365).toNanos();

    private final Receiver receiver;
    private final TimeSource time;

    /**
     * The time since which the connection has been unbroken; in the future while there is none. Its messages come from
     * one run of one server, which was a master when it ran the scripts that sent them.
     */
    private volatile long connectedNanos;

    public ServerSubscriptions(RedisKeys keys, String clientId, Receiver receiver, TimeSource time) {
        super(keys.clientChannels() + clientId);
        this.time = time;
        this.connectedNanos = time.nanoTime() + NEVER_NANOS;
        this.receiver = receiver;
    }

    @Override
    public CompletionStage<Void> attach(StatefulRedisPubSubConnection<String, String> connection) {
        connectedNanos = time.nanoTime();
        return patiently(super.attach(connection), ATTEMPTS - 1);
    }

    /**
     * Subscribes again if the connection was lost at once, as an overloaded server does: the driver reconnects, but it
     * refuses the command.
     */
    private CompletionStage<Void> patiently(CompletionStage<Void> subscribing, int attemptsLeft) {
        return subscribing.exceptionallyCompose(error -> {
            if (attemptsLeft == 0 || !RedisErrors.wasNotSent(error)) {
                return CompletableFuture.failedFuture(error);
            }
            CompletableFuture<Void> later = new CompletableFuture<>();
            time.schedule(AGAIN_NANOS, () -> later.complete(null));
            return later.thenCompose(now -> patiently(subscribeToOwn(), attemptsLeft - 1));
        });
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

    @Override
    public CompletionStage<Void> subscribe(String name, String channel) {
        return subscribe(channel);
    }

    @Override
    public void message(String channel, String message) {
        receiver.message(channel, message, connectedNanos);
    }

    @Override
    public void resubscribed() {
        receiver.missed();
    }

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
        connectedNanos = time.nanoTime();
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
        connectedNanos = time.nanoTime() + NEVER_NANOS;
        super.onRedisDisconnected(connection);
    }
}
