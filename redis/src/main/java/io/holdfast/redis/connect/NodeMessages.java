package io.holdfast.redis.connect;

import io.holdfast.redis.connect.WantedChannel.ChannelKey;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.RedisPubSubListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.net.SocketAddress;
import java.util.concurrent.CompletionStage;

/** A connection for messages to one node of a cluster. It reconnects by itself, and subscribes to nothing by itself. */
public final class NodeMessages extends RedisPubSubAdapter<String, String> implements RedisConnectionStateListener {

    /** Who decides what is subscribed to where. Called on I/O threads. */
    interface Owner {

        void message(NodeMessages from, ChannelKey key, String message);

        /** A subscription stands: asked for, or because the driver repeated it after a reconnect. */
        void subscribed(NodeMessages at, ChannelKey key);

        /** A sharded subscription has ended: asked for, or because the slot has moved away. */
        void ended(NodeMessages at, String channel);

        void disconnected(NodeMessages from);

        void connected(NodeMessages to);

        /** There was never a connection. */
        void unreachable(NodeMessages link);
    }

    final String node;
    private final Owner owner;
    private final CompletionStage<StatefulRedisPubSubConnection<String, String>> connecting;

    NodeMessages(
            String node,
            CompletionStage<StatefulRedisPubSubConnection<String, String>> connecting,
            Owner owner,
            TimeSource time) {
        this.node = node;
        this.owner = owner;
        this.connecting = connecting;
        connecting.whenComplete((connection, error) -> {
            if (error == null) {
                connection.addListener((RedisPubSubListener<String, String>) this);
                connection.addListener((RedisConnectionStateListener) this);
            } else {
                // Not here: whoever made this link is still putting it into the map.
                time.schedule(0, () -> owner.unreachable(this));
            }
        });
    }

    CompletionStage<Void> send(ChannelKey key, boolean subscribe) {
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
