package io.holdfast.redis.connect;

import io.holdfast.redis.messages.Publishing;
import io.holdfast.redis.messages.RedisMessages;
import io.holdfast.redis.messages.ServerSubscriptions;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.RedisSettings.Topology;
import io.holdfast.redis.server.ServerClock;
import io.holdfast.redis.server.ServerId;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The connections to one server: one for commands, one for messages.
 *
 * <p>With {@code redis://} that is the server at the address; each reconnect resolves its name again. With Sentinels it
 * is the server that they call the master when a connection is made.
 *
 * <p><b>A failover is noticed</b> when the connections to the old master end. They end by themselves if it dies, if
 * Sentinel demotes it, or if it does not answer for a heartbeat and the timeout. This class cuts them if the server
 * refuses a command as a replica, or if a Sentinel announces a new master. Commands in flight then fail as unknown.
 * Each reconnect asks the Sentinels (or the name server) again, at least every second.
 */
public final class ServerConnections implements RedisConnections {

    /** The time between two cuts: enough to reconnect and to be refused again. */
    private static final long CUT_INTERVAL_NANOS = 250_000_000;

    private static final ServerId SERVER = new ServerId("the server");

    private final RedisSettings settings;
    private final TimeSource time;
    private final Driver driver;
    private final RedisClient client;

    /** Makes the connections that must never lead to another server. */
    private final RedisClient dedicated;

    private final ServerClock clock;
    private final @Nullable SentinelWatch sentinels;
    private final AtomicLong lastCut;
    private volatile @Nullable StatefulRedisConnection<String, String> connection;
    private volatile @Nullable ServerSubscriptions subscriptions;

    public ServerConnections(RedisSettings settings, TimeSource time) {
        this(settings, settings.resources(), time);
    }

    /** @param threads replace those in the settings; null for threads that these connections start themselves */
    public ServerConnections(RedisSettings settings, @Nullable ClientResources threads, TimeSource time) {
        this.settings = settings;
        this.time = time;
        this.clock = new ServerClock(time);
        this.lastCut = new AtomicLong(time.nanoTime() - CUT_INTERVAL_NANOS);
        driver = new Driver(settings, threads);
        client = new AsyncClient(driver.resources());
        client.setOptions(Driver.options(ClientOptions.builder(), settings).build());
        dedicated = driver.clientWithoutReconnect(settings);
        sentinels = settings.topology() == Topology.SENTINEL ? new SentinelWatch(client, settings, driver) : null;
    }

    @Override
    public void onConnecting(Runnable connecting) {
        driver.onConnecting(connecting);
    }

    @Override
    public CompletionStage<Void> connect(Runnable reconnected) {
        SentinelWatch watch = sentinels;
        if (watch != null) {
            watch.beat();
        }
        return Handshakes.connect(() -> client.connectAsync(StringCodec.UTF8, settings.node()))
                .thenAccept(connected -> {
                    connected.addListener(new RedisConnectionStateListener() {
                        @Override
                        public void onRedisConnected(RedisChannelHandler<?, ?> handler, SocketAddress address) {
                            // This may be another server, or the same one after its clock was set.
                            clock.forget();
                            reconnected.run();
                        }
                    });
                    connection = connected;
                });
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
    public List<RedisClusterAsyncCommands<String, String>> servers() {
        return List.of(commands());
    }

    @Override
    public CompletionStage<StatefulRedisConnection<String, String>> dedicated(String key) {
        return Handshakes.connect(() -> dedicated.connectAsync(StringCodec.UTF8, settings.node()));
    }

    @Override
    public CompletionStage<Void> subscribe(
            RedisKeys keys, String clientId, Publishing publishing, RedisMessages messages) {
        ServerSubscriptions created = new ServerSubscriptions(keys, clientId, messages, time);
        subscriptions = created;
        messages.from(created);
        return connectMessages().thenCompose(created::attach);
    }

    /** Makes a connection for messages, which reconnects by itself, for callers with subscriptions of their own. */
    public CompletionStage<StatefulRedisPubSubConnection<String, String>> connectMessages() {
        return Handshakes.connect(() -> client.connectPubSubAsync(StringCodec.UTF8, settings.node()));
    }

    @Override
    public int group(String key) {
        return 0;
    }

    @Override
    public boolean reaches(String key) {
        StatefulRedisConnection<String, String> connected = connection;
        return connected != null && connected.isOpen();
    }

    @Override
    public ServerId server(String key) {
        return SERVER;
    }

    @Override
    public ServerClock clock(String key) {
        return clock;
    }

    /** Returns zero: there is no other server to try, and the engine repeats the command. */
    @Override
    public Duration patience() {
        return Duration.ZERO;
    }

    @Override
    public void failed(String key, Throwable error) {
        if (RedisErrors.hasCode(error, "READONLY", "MASTERDOWN")) {
            long now = time.nanoTime();
            long last = lastCut.get();
            if (now - last >= CUT_INTERVAL_NANOS && lastCut.compareAndSet(last, now)) {
                driver.cut(address -> !settings.isSentinel(address));
            }
        }
    }

    @Override
    public void beat() {
        var unused = commands().ping();
        ServerSubscriptions messages = subscriptions;
        if (messages != null) {
            messages.beat();
        }
        if (sentinels != null) {
            sentinels.beat();
        }
    }

    @Override
    public void close() {
        driver.close(dedicated, client);
    }
}
