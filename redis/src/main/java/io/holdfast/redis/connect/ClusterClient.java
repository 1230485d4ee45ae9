package io.holdfast.redis.connect;

import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.json.JsonParser;
import io.lettuce.core.protocol.PushHandler;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** The driver's client of a cluster, whose connections to nodes are closed once ({@link CloseOnce}). */
final class ClusterClient extends RedisClusterClient {

    /** @param seeds some nodes, which know the others */
    ClusterClient(ClientResources resources, Iterable<RedisURI> seeds) {
        super(resources, seeds);
    }

    @Override
    protected <K, V> StatefulRedisConnectionImpl<K, V> newStatefulRedisConnection(
            RedisChannelWriter writer,
            PushHandler pushes,
            RedisCodec<K, V> codec,
            Duration timeout,
            Supplier<JsonParser> parser) {
        return new ToNode<>(writer, pushes, codec, timeout, parser);
    }

    private static final class ToNode<K, V> extends StatefulRedisConnectionImpl<K, V> {

        private final CloseOnce closing = new CloseOnce();

        ToNode(
                RedisChannelWriter writer,
                PushHandler pushes,
                RedisCodec<K, V> codec,
                Duration timeout,
                Supplier<JsonParser> parser) {
            super(writer, pushes, codec, timeout, parser);
        }

        @Override
        public CompletableFuture<Void> closeAsync() {
            return closing.begin(super::closeAsync);
        }
    }
}
