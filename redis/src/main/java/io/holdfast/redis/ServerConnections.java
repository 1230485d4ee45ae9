package io.holdfast.redis;

import io.holdfast.spi.TimeSource;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.net.SocketAddress;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One server: one connection for commands, one for messages.
 *
 * <p>With {@code redis://}, the server of that address. With Sentinels, the one that they call the master when a
 * connection is made: a failover cuts the connections to the old master (it dies, or Sentinel closes them when it demotes
 * it), and reconnecting asks the Sentinels again.
 */
final class ServerConnections implements RedisConnections {

    private final RedisSettings settings;
    private final Driver driver;
    private final RedisClient client;

    /** For connections with a state in them, which must end with the connection. */
    private final RedisClient once;

    private final ServerClock clock;
    private volatile @Nullable StatefulRedisConnection<String, String> connection;

    ServerConnections(RedisSettings settings, TimeSource time) {
        this.settings = settings;
        this.clock = new ServerClock(time);
        driver = new Driver(settings);
        client = RedisClient.create(driver.resources(), settings.node());
        client.setOptions(Driver.options(ClientOptions.builder(), settings).build());
        once = RedisClient.create(driver.resources(), settings.node());
        once.setOptions(Driver.options(ClientOptions.builder(), settings)
                .autoReconnect(false)
                .build());
    }

    /**
     * Makes the shared connection. To be called once, before {@link #commands}.
     *
     * @param reconnected runs on an I/O thread each time the connection was lost and is back
     */
    CompletionStage<StatefulRedisConnection<String, String>> connect(Runnable reconnected) {
        return client.connectAsync(StringCodec.UTF8, settings.node()).thenApply(connected -> {
            connected.addListener(new RedisConnectionStateListener() {
                @Override
                public void onRedisConnected(RedisChannelHandler<?, ?> handler, SocketAddress address) {
                    reconnected.run();
                }
            });
            connection = connected;
            return connected;
        });
    }

    CompletionStage<StatefulRedisPubSubConnection<String, String>> connectMessages() {
        return client.connectPubSubAsync(StringCodec.UTF8, settings.node());
    }

    @Override
    public RedisClusterAsyncCommands<String, String> commands() {
        StatefulRedisConnection<String, String> connected = connection;
        if (connected == null) {
            throw new IllegalStateException("not connected yet");
        }
        return connected.async();
    }

    @Override
    public CompletionStage<StatefulRedisConnection<String, String>> dedicated(String key) {
        return once.connectAsync(StringCodec.UTF8, settings.node());
    }

    @Override
    public ServerClock clock(String key) {
        return clock;
    }

    @Override
    public void failed(String key, Throwable error) {}

    @Override
    public void close() {
        try {
            var ended = once.shutdownAsync(0, 1, TimeUnit.SECONDS);
            client.shutdownAsync(0, 1, TimeUnit.SECONDS).get(2, TimeUnit.SECONDS);
            ended.get(2, TimeUnit.SECONDS);
            driver.shutdown();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            System.getLogger(ServerConnections.class.getName())
                    .log(System.Logger.Level.DEBUG, "Closing the connections failed", e);
        }
    }
}
