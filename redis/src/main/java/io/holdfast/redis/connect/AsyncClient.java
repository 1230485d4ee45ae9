package io.holdfast.redis.connect;

import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisReactiveCommandsImpl;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.PushHandler;
import io.lettuce.core.pubsub.PubSubEndpoint;
import io.lettuce.core.pubsub.RedisPubSubReactiveCommandsImpl;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnectionImpl;
import io.lettuce.core.pubsub.api.reactive.RedisPubSubReactiveCommands;
import io.lettuce.core.pubsub.api.sync.RedisPubSubCommands;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The driver's client, whose connections have the asynchronous commands alone.
 *
 * <p>The driver otherwise makes the blocking and the reactive commands of each connection as well: a proxy class with
 * over a thousand methods, which takes much of the time to the first lock of a new JVM.
 */
final class AsyncClient extends RedisClient {

    /** Creates a client that receives a URI with each connection. */
    AsyncClient(ClientResources resources) {
        super(resources, new RedisURI());
    }

    @Override
    protected <K, V> StatefulRedisConnectionImpl<K, V> newStatefulRedisConnection(
            RedisChannelWriter writer, PushHandler pushes, RedisCodec<K, V> codec, Duration timeout) {
        return new Commands<>(writer, pushes, codec, timeout);
    }

    @Override
    protected <K, V> StatefulRedisPubSubConnectionImpl<K, V> newStatefulRedisPubSubConnection(
            PubSubEndpoint<K, V> endpoint, RedisChannelWriter writer, RedisCodec<K, V> codec, Duration timeout) {
        return new Messages<>(endpoint, writer, codec, timeout);
    }

    private static UnsupportedOperationException asyncOnly() {
        return new UnsupportedOperationException("this connection has asynchronous commands only (expected: async())");
    }

    /** The driver calls the two {@code new…} methods in its constructor, and keeps what they return. */
    private static final class Commands<K, V> extends StatefulRedisConnectionImpl<K, V> {

        private final CloseOnce closing = new CloseOnce();

        Commands(RedisChannelWriter writer, PushHandler pushes, RedisCodec<K, V> codec, Duration timeout) {
            super(writer, pushes, codec, timeout);
        }

        @Override
        public CompletableFuture<Void> closeAsync() {
            return closing.begin(super::closeAsync);
        }

        @Override
        protected @Nullable RedisCommands<K, V> newRedisSyncCommandsImpl() {
            return null;
        }

        @Override
        protected @Nullable RedisReactiveCommandsImpl<K, V> newRedisReactiveCommandsImpl() {
            return null;
        }

        @Override
        public RedisCommands<K, V> sync() {
            throw asyncOnly();
        }

        @Override
        public RedisReactiveCommands<K, V> reactive() {
            throw asyncOnly();
        }
    }

    private static final class Messages<K, V> extends StatefulRedisPubSubConnectionImpl<K, V> {

        private final CloseOnce closing = new CloseOnce();

        Messages(PubSubEndpoint<K, V> endpoint, RedisChannelWriter writer, RedisCodec<K, V> codec, Duration timeout) {
            super(endpoint, writer, codec, timeout);
        }

        @Override
        public CompletableFuture<Void> closeAsync() {
            return closing.begin(super::closeAsync);
        }

        @Override
        protected @Nullable RedisPubSubCommands<K, V> newRedisSyncCommandsImpl() {
            return null;
        }

        @Override
        protected @Nullable RedisPubSubReactiveCommandsImpl<K, V> newRedisReactiveCommandsImpl() {
            return null;
        }

        @Override
        public RedisPubSubCommands<K, V> sync() {
            throw asyncOnly();
        }

        @Override
        public RedisPubSubReactiveCommands<K, V> reactive() {
            throw asyncOnly();
        }
    }
}
