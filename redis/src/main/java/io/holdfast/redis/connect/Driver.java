package io.holdfast.redis.connect;

import io.holdfast.redis.server.Log;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.spi.StageWait;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.event.Event;
import io.lettuce.core.event.EventBus;
import io.lettuce.core.protocol.CommandHandler;
import io.lettuce.core.protocol.ConnectionWatchdog;
import io.lettuce.core.protocol.RedisHandshakeHandler;
import io.lettuce.core.pubsub.PubSubCommandHandler;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.NettyCustomizer;
import io.lettuce.core.resource.ThreadFactoryProvider;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/**
 * Sets up the driver for a store: its threads, its options, and the set of its open channels.
 *
 * <p>By default Lettuce keeps commands while it is disconnected, and sends again what was in flight. Here it does
 * neither: the engine must learn that a command failed, and then decides itself.
 */
public final class Driver {

    /** Names threads {@code holdfast-redis-…}, so that they differ from those of the application's own connections. */
    static final ThreadFactoryProvider THREADS = DriverThreads::new;

    private static final Duration CLOSE_AT_MOST = Duration.ofSeconds(2);

    private static final Duration RECONNECT_MAX = Duration.ofSeconds(1);

    private final ClientResources resources;

    /** The I/O threads; null on the user's threads. */
    private final @Nullable EventLoopGroupProvider ownLoops;

    /** The watchdogs, one for each connection, of the connections that were established before. */
    private final Set<ConnectionWatchdog> connectedBefore =
            Collections.newSetFromMap(Collections.synchronizedMap(new WeakHashMap<>()));

    private volatile Runnable connecting = () -> {};

    /** The open channels of this store alone, even when the threads are shared. */
    private final Set<Channel> channels = ConcurrentHashMap.newKeySet();

    /**
     * Starts the driver.
     *
     * @param shared the threads to use; null for threads that this driver starts itself
     * @throws io.holdfast.spi.StoreException if Lettuce is too old
     */
    Driver(RedisSettings settings, @Nullable ClientResources shared) {
        DriverVersion.requireReplayFilter(ClientOptions.builder());
        ClientResources.Builder builder = ClientResources.builder()
                .reconnectDelay(Delay.fullJitter(Duration.ofMillis(10), RECONNECT_MAX, 50, TimeUnit.MILLISECONDS));
        ClientResources model = shared != null ? shared : settings.model();
        if (model != null) {
            builder.commandLatencyRecorder(model.commandLatencyRecorder())
                    .socketAddressResolver(model.socketAddressResolver())
                    .addressResolverGroup(model.addressResolverGroup())
                    .tracing(model.tracing());
        }
        if (shared == null) {
            ownLoops = new DefaultEventLoopGroupProvider(ioThreads(settings), THREADS);
            builder.threadFactoryProvider(THREADS)
                    .eventLoopGroupProvider(ownLoops)
                    .computationThreadPoolSize(2);
            if (settings.topology() != RedisSettings.Topology.CLUSTER) {
                builder.eventBus(new NoEvents());
            }
        } else {
            // The built resources do not shut down what the builder was given.
            ownLoops = null;
            builder.eventLoopGroupProvider(shared.eventLoopGroupProvider())
                    .eventExecutorGroup(shared.eventExecutorGroup())
                    .timer(shared.timer())
                    .eventBus(shared.eventBus());
        }
        resources = builder.nettyCustomizer(new Customizer(model, settings.silence()))
                .build();
    }

    /**
     * Returns one for a single server, so that the answer and the message of a hand-off wake one thread instead of two.
     * Returns two where that thread would resolve names or fetch logins, which may take long.
     */
    private static int ioThreads(RedisSettings settings) {
        return settings.topology() == RedisSettings.Topology.CLUSTER
                        || !DriverVersion.resolvesNamesWithoutBlocking()
                        || !settings.hasLoginAtHand()
                ? 2
                : 1;
    }

    /** Sets the action that runs on an I/O thread before a lost connection for commands takes commands again. */
    void onConnecting(Runnable action) {
        connecting = action;
    }

    ClientResources resources() {
        return resources;
    }

    static <B extends ClientOptions.Builder> B options(B options, RedisSettings settings) {
        options.autoReconnect(true)
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .replayFilter(command -> true)
                .timeoutOptions(TimeoutOptions.enabled(settings.timeout()))
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(settings.connectTimeout())
                        .keepAlive(true)
                        .build());
        DriverVersion.disableMaintNotifications(options);
        SslOptions ssl =
                settings.ssl() != null ? settings.ssl() : settings.files().options(settings.timeout());
        if (ssl != null) {
            options.sslOptions(ssl);
        }
        return options;
    }

    /** Returns a client whose lost connections stay lost, so that none ever leads to another server. */
    RedisClient clientWithoutReconnect(RedisSettings settings) {
        RedisClient client = new AsyncClient(resources);
        client.setOptions(
                options(ClientOptions.builder(), settings).autoReconnect(false).build());
        return client;
    }

    /** Closes the channels to some addresses. The driver then resolves the name again and reconnects. */
    void cut(Predicate<InetSocketAddress> addresses) {
        for (Channel channel : channels) {
            if (channel.remoteAddress() instanceof InetSocketAddress address && addresses.test(address)) {
                var unused = channel.close();
            }
        }
    }

    /** Closes the clients' connections and ends the threads. Waits for two seconds at most; does not throw. */
    void close(AbstractRedisClient... clients) {
        CompletableFuture<Void> all = CompletableFuture.allOf(Stream.of(clients)
                .map(client -> client.shutdownAsync(0, 1, TimeUnit.SECONDS))
                .toArray(CompletableFuture<?>[]::new));
        // Not orTimeout: its thread never ends, and keeps the class loader of the application that it began in.
        TimeSource.Timer late = TimeSource.system()
                .schedule(CLOSE_AT_MOST.toNanos(), () -> all.completeExceptionally(new TimeoutException()));
        try {
            // Runs even when the wait is interrupted: otherwise threads would be left.
            CompletionStage<Void> ended = all.whenComplete((closed, error) -> {
                late.cancel();
                endThreads();
            });
            StageWait.await(ended, CLOSE_AT_MOST.plusSeconds(1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            Log.LOG.log(System.Logger.Level.DEBUG, "Closing the connections failed", e);
        }
    }

    /** Ends the threads, unless they are the user's. Does not wait: one of them may be running this. */
    private void endThreads() {
        var unused = resources.shutdown(0, 1, TimeUnit.SECONDS);
        if (ownLoops != null) {
            var unusedToo = ownLoops.shutdown(0, 1, TimeUnit.SECONDS);
        }
    }

    /**
     * Drops the driver's events. Only the connections to a cluster look at them, and the driver's own bus loads much of
     * Reactor before the first lock. That bus also records events of the driver for the flight recorder, which are
     * dropped, too.
     */
    private static final class NoEvents implements EventBus {

        @Override
        public Flux<Event> get() {
            return Flux.never();
        }

        @Override
        public void publish(Event event) {}
    }

    private final class Customizer implements NettyCustomizer {

        private final NettyCustomizer users;
        private final Duration silence;

        Customizer(@Nullable ClientResources model, Duration silence) {
            this.users = model == null ? new NettyCustomizer() {} : model.nettyCustomizer();
            this.silence = silence;
        }

        @Override
        public void afterBootstrapInitialized(Bootstrap bootstrap) {
            users.afterBootstrapInitialized(bootstrap);
        }

        @Override
        public void afterChannelInitialized(Channel channel) {
            users.afterChannelInitialized(channel);
            channel.pipeline()
                    .addFirst(new WritesTogether(
                            channel.pipeline().get(CommandHandler.class).getStack()));
            channel.pipeline().addFirst(new CloseWhenSilent(silence));
            channel.pipeline().addFirst(new BeforeCommands());
            channels.add(channel);
            channel.closeFuture().addListener(closed -> channels.remove(channel));
        }
    }

    /**
     * Notices a connection that is back before the driver does: this handler is the first in the pipeline, and the
     * driver writes no command to a channel before it has seen the channel active. A failed attempt to connect counts
     * for nothing.
     */
    private final class BeforeCommands extends ChannelInboundHandlerAdapter {

        private boolean connected; // on the channel's thread

        @Override
        public void channelActive(ChannelHandlerContext context) {
            connected = true;
            ConnectionWatchdog watchdog = context.pipeline().get(ConnectionWatchdog.class);
            boolean forMessages = context.pipeline().get(PubSubCommandHandler.class) != null;
            if (watchdog != null && !forMessages && !connectedBefore.add(watchdog)) {
                connecting.run();
            }
            context.fireChannelActive();
        }

        /**
         * Ends the handshake of a channel that was never connected. Otherwise the driver ends it when its time is over,
         * and logs an error if the channel's thread has ended by then, as after a failed opening. The driver itself ends
         * the handshake of a channel that was connected, with the reason.
         */
        @Override
        public void channelUnregistered(ChannelHandlerContext context) {
            RedisHandshakeHandler handshake = context.pipeline().get(RedisHandshakeHandler.class);
            if (!connected && handshake != null) {
                handshake.channelInitialized().toCompletableFuture().cancel(false);
            }
            context.fireChannelUnregistered();
        }
    }

    /**
     * Closes a connection on which nothing has arrived for longer than a heartbeat and its answer take: it is dead, and
     * TCP may take many minutes to find out. The driver then makes a new one.
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
