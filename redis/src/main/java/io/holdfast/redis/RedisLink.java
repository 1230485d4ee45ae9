package io.holdfast.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * The driver, set up as the store needs it: one client with its threads, for two connections to one server.
 *
 * <p>Lettuce by itself keeps commands while it is disconnected and sends again what was in flight. Here it does neither:
 * the engine knows better what to do about a command that failed, and it must know that it failed.
 */
final class RedisLink {

    private static final Duration RECONNECT_MAX = Duration.ofSeconds(1);

    private final ClientResources resources;
    private final RedisClient client;

    RedisLink(RedisSettings settings) {
        Duration silence = settings.heartbeat().plus(settings.timeout());
        resources = ClientResources.builder()
                .ioThreadPoolSize(2)
                .computationThreadPoolSize(2)
                .reconnectDelay(Delay.fullJitter(Duration.ofMillis(10), RECONNECT_MAX, 50, TimeUnit.MILLISECONDS))
                .nettyCustomizer(new NettyCustomizer() {
                    @Override
                    public void afterChannelInitialized(Channel channel) {
                        channel.pipeline().addFirst(new CloseWhenSilent(silence));
                    }
                })
                .build();
        client = RedisClient.create(resources, uri(settings));
        client.setOptions(options(settings));
    }

    CompletionStage<StatefulRedisConnection<String, String>> connectCommands(RedisSettings settings) {
        return client.connectAsync(StringCodec.UTF8, uri(settings));
    }

    CompletionStage<StatefulRedisPubSubConnection<String, String>> connectMessages(RedisSettings settings) {
        return client.connectPubSubAsync(StringCodec.UTF8, uri(settings));
    }

    /** Closes the connections and ends the threads. Waits a bounded time for that; does not throw. */
    void close() {
        try {
            client.shutdownAsync(0, 1, TimeUnit.SECONDS).get(2, TimeUnit.SECONDS);
            // Not waited for: it ends the thread that may be running this.
            var unused = resources.shutdown(0, 1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            System.getLogger(RedisLink.class.getName())
                    .log(System.Logger.Level.DEBUG, "Closing the connections failed", e);
        }
    }

    private static RedisURI uri(RedisSettings settings) {
        RedisURI uri = RedisURI.Builder.redis(settings.host(), settings.port())
                .withSsl(settings.tls())
                .withDatabase(settings.database())
                .withTimeout(settings.timeout())
                .withClientName(settings.clientName())
                .build();
        String password = settings.password();
        if (password != null && settings.user() != null) {
            uri.setAuthentication(settings.user(), password.toCharArray());
        } else if (password != null) {
            uri.setAuthentication(password.toCharArray());
        }
        return uri;
    }

    private static ClientOptions options(RedisSettings settings) {
        ClientOptions.Builder options = ClientOptions.builder()
                .autoReconnect(true)
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .replayFilter(command -> true)
                .timeoutOptions(TimeoutOptions.enabled(settings.timeout()))
                .maintNotificationsConfig(MaintNotificationsConfig.disabled())
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(settings.timeout())
                        .keepAlive(true)
                        .build());
        Path ca = settings.ca();
        if (ca != null) {
            options.sslOptions(SslOptions.builder()
                    .jdkSslProvider()
                    .handshakeTimeout(settings.timeout())
                    .trustManager(ca.toFile())
                    .build());
        }
        return options.build();
    }

    /**
     * Closes a connection on which nothing has arrived for longer than the heartbeat and its answer take: it is dead,
     * though TCP may not find out for many minutes. The driver then makes a new one.
     */
    private static final class CloseWhenSilent extends IdleStateHandler {

        CloseWhenSilent(Duration silence) {
            super(silence.toMillis(), 0, 0, TimeUnit.MILLISECONDS);
        }

        @Override
        protected void channelIdle(ChannelHandlerContext context, IdleStateEvent event) {
            var unused = context.close();
        }
    }
}
