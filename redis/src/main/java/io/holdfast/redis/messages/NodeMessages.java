package io.holdfast.redis.messages;

import io.holdfast.redis.messages.WantedChannel.ChannelKey;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.RedisPubSubListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.net.SocketAddress;
import java.util.concurrent.CompletionStage;

/** A connection for messages to one node of a cluster. It reconnects by itself; its owner chooses the subscriptions. */
final class NodeMessages extends RedisPubSubAdapter<String, String> implements RedisConnectionStateListener {

    final String node;
    private final ClusterSubscriptions owner;
    private final CompletionStage<StatefulRedisPubSubConnection<String, String>> connecting;

    NodeMessages(
            String node,
            CompletionStage<StatefulRedisPubSubConnection<String, String>> connecting,
            ClusterSubscriptions owner,
            TimeSource time) {
        this.node = node;
        this.owner = owner;
        this.connecting = connecting;
        connecting.whenComplete((connection, error) -> {
            if (error == null) {
                connection.addListener((RedisPubSubListener<String, String>) this);
                connection.addListener((RedisConnectionStateListener) this);
            } else {
                // Not here: the owner may still be putting this link into its map.
                time.schedule(0, () -> owner.unreachable(this));
            }
        });
    }

    CompletionStage<Void> subscribe(ChannelKey key) {
        return connecting.thenCompose(connection -> {
            RedisPubSubAsyncCommands<String, String> commands = connection.async();
            return key.sharded() ? commands.ssubscribe(key.channel()) : commands.subscribe(key.channel());
        });
    }

    void unsubscribe(ChannelKey key) {
        connecting.thenAccept(connection -> {
            RedisPubSubAsyncCommands<String, String> commands = connection.async();
            var unused = key.sharded() ? commands.sunsubscribe(key.channel()) : commands.unsubscribe(key.channel());
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
        owner.message(this, new ChannelKey(channel, false), message);
    }

    @Override
    public void smessage(String channel, String message) {
        owner.message(this, new ChannelKey(channel, true), message);
    }

    @Override
    public void subscribed(String channel, long count) {
        owner.subscribed(this, new ChannelKey(channel, false));
    }

    @Override
    public void ssubscribed(String channel, long count) {
        owner.subscribed(this, new ChannelKey(channel, true));
    }

    @Override
    public void sunsubscribed(String channel, long count) {
        owner.ended(this, channel);
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
        owner.disconnected(this);
    }

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
        owner.connected(this);
    }
}
