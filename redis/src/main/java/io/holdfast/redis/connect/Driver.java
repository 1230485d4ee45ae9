package io.holdfast.redis.connect;

import io.holdfast.redis.server.RedisSettings;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.protocol.ConnectionWatchdog;
import io.lettuce.core.pubsub.PubSubCommandHandler;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The driver, set up as the store needs it: its threads and options, and a hold on its channels.
 *
 * <p>Lettuce by itself keeps commands while it is disconnected and sends again what was in flight. Here it does neither:
 * the engine knows better what to do about a command that failed, and it must know that it failed.
 */
public final class Driver {

    private static final Duration RECONNECT_MAX = Duration.ofSeconds(1);

    /**
     * The driver writes each command to the socket by itself, which costs more than all else that it does. So those that are
     * ready go together; none waits for one that is not. With many more than this at once, the client and the server take turns
     * instead of working at the same time: a quarter less with 64 threads.
     */
    private static final int WRITTEN_TOGETHER = 8;

    private final ClientResources resources;

    /** Null on the user's threads. */
    private final @Nullable EventLoopGroupProvider ownLoops;

    /** What the driver reconnects by, one for each connection, of those that were connected once. */
    private final Set<ConnectionWatchdog> connectedBefore =
            Collections.newSetFromMap(Collections.synchronizedMap(new WeakHashMap<>()));

    private volatile Runnable connecting = () -> {};

    /** The open channels of this store, also when the threads are shared with others. */
    private final Set<Channel> channels = ConcurrentHashMap.newKeySet();

    Driver(RedisSettings settings) {
        ClientResources.Builder builder = ClientResources.builder()
                .reconnectDelay(Delay.fullJitter(Duration.ofMillis(10), RECONNECT_MAX, 50, TimeUnit.MILLISECONDS));
        ClientResources shared = settings.resources();
        if (shared == null) {
            ThreadNames names = new ThreadNames();
            ownLoops = new DefaultEventLoopGroupProvider(ioThreads(settings), names);
            builder.threadFactoryProvider(names)
                    .eventLoopGroupProvider(ownLoops)
                    .computationThreadPoolSize(2);
        } else {
            // What is given to the builder is not shut down with what it builds.
            ownLoops = null;
            builder.eventLoopGroupProvider(shared.eventLoopGroupProvider())
                    .eventExecutorGroup(shared.eventExecutorGroup())
                    .timer(shared.timer())
                    .eventBus(shared.eventBus())
                    .commandLatencyRecorder(shared.commandLatencyRecorder())
                    .socketAddressResolver(shared.socketAddressResolver())
                    .addressResolverGroup(shared.addressResolverGroup())
                    .tracing(shared.tracing());
        }
        Duration silence = settings.heartbeat().plus(settings.timeout());
        resources = builder.nettyCustomizer(new Customizer(shared, silence)).build();
    }

    /**
     * One for one server: answers and messages of a hand-off wake one thread then, not two, and save a fifth of its work. But
     * where names are resolved or logins are fetched on that thread, a slow answer there would hold up all.
     */
    private static int ioThreads(RedisSettings settings) {
        return settings.topology() == RedisSettings.Topology.CLUSTER
                        || !HostNames.resolvedWithoutBlocking()
                        || !settings.hasLoginAtHand()
                ? 2
                : 1;
    }

    /** Sets what runs on an I/O thread before a connection for commands that was lost takes commands again. */
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
        MaintNotifications.disable(options);
        SslOptions ssl =
                settings.ssl() != null ? settings.ssl() : settings.files().options(settings.timeout());
        if (ssl != null) {
            options.sslOptions(ssl);
        }
        return options;
    }

    /** A client whose connections fail for good when they are lost, instead of leading to another server one day. */
    static RedisClient withoutReconnect(Driver driver, RedisSettings settings) {
        RedisClient client = RedisClient.create(driver.resources());
        client.setOptions(
                options(ClientOptions.builder(), settings).autoReconnect(false).build());
        return client;
    }

    /** Closes the channels to some addresses. The driver then connects anew, to wherever the name leads by then. */
    void cut(Predicate<InetSocketAddress> addresses) {
        for (Channel channel : channels) {
            if (channel.remoteAddress() instanceof InetSocketAddress address && addresses.test(address)) {
                var unused = channel.close();
            }
        }
    }

    /** Ends the threads, unless they are the user's. Does not wait: that thread may be running this. */
    void shutdown() {
        var unused = resources.shutdown(0, 1, TimeUnit.SECONDS);
        if (ownLoops != null) {
            var unusedToo = ownLoops.shutdown(0, 1, TimeUnit.SECONDS);
        }
    }

    private final class Customizer implements NettyCustomizer {

        private final NettyCustomizer users;
        private final Duration silence;

        Customizer(@Nullable ClientResources shared, Duration silence) {
            this.users = shared == null ? new NettyCustomizer() {} : shared.nettyCustomizer();
            this.silence = silence;
        }

        @Override
        public void afterBootstrapInitialized(Bootstrap bootstrap) {
            users.afterBootstrapInitialized(bootstrap);
        }

        @Override
        public void afterChannelInitialized(Channel channel) {
            users.afterChannelInitialized(channel);
            channel.pipeline().addFirst(new FlushConsolidationHandler(WRITTEN_TOGETHER, true));
            channel.pipeline().addFirst(new CloseWhenSilent(silence));
            channel.pipeline().addFirst(new BeforeCommands());
            channels.add(channel);
            channel.closeFuture().addListener(closed -> channels.remove(channel));
        }
    }

    /**
     * Sees a connection that comes back before the driver does: it is the first in the pipeline, and the driver writes no command to a
     * channel before it has seen the channel active. A server that does not accept connections is no reason for anything.
     */
    private final class BeforeCommands extends ChannelInboundHandlerAdapter {

        @Override
        public void channelActive(ChannelHandlerContext context) {
            ConnectionWatchdog watchdog = context.pipeline().get(ConnectionWatchdog.class);
            boolean forMessages = context.pipeline().get(PubSubCommandHandler.class) != null;
            if (watchdog != null && !forMessages && !connectedBefore.add(watchdog)) {
                connecting.run();
            }
            context.fireChannelActive();
        }
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
