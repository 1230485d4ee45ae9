package io.holdfast.redis.connect;

import io.holdfast.redis.server.Log;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.ServerClock;
import io.holdfast.redis.server.ServerId;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.event.ClusterTopologyChangedEvent;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.models.role.RedisNodeDescription;
import io.lettuce.core.protocol.ConnectionIntent;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/**
 * A Redis Cluster: one connection for commands to each master, which the driver chooses by the key's slot, and one for
 * messages to each master at whose slots somebody waits ({@link ClusterSubscriptions}).
 *
 * <p>A master that does not answer holds up the commands on its own slots and no others.
 *
 * <p><b>Moved slots and failovers</b>: a node that redirects (MOVED, ASK) has done nothing, and the driver sends the
 * command to the node that it names. The map of slots is read again after each redirection, and after each failure that
 * may come from a changed map; reading it takes as long as the slowest node, at most the timeout. A command to a node
 * that is being connected to, or that answers TRYAGAIN (its slot is half moved), is repeated for {@link #patience}.
 */
public final class ClusterConnections implements RedisConnections, ClusterSubscriptions.Nodes {

    private static final long REFRESH_INTERVAL_NANOS = 200_000_000;
    private static final Duration PATIENCE_MAX = Duration.ofSeconds(1);

    private final RedisSettings settings;
    private final TimeSource time;
    private final Driver driver;
    private final RedisClusterClient cluster;

    /** For connections to one node that the driver's cluster does not know of. */
    private final RedisClient nodes;

    /** The same for connections that are given up when they are lost. */
    private final RedisClient faithful;

    private final ConcurrentHashMap<String, ServerClock> clocks = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<String, StatefulRedisConnection<String, String>> connected =
            new ConcurrentHashMap<>();
    private final AtomicLong lastRefresh;
    private final AtomicBoolean refreshing = new AtomicBoolean();
    private final Disposable topologyEvents;
    private volatile Runnable reconnected = () -> {};
    private volatile @Nullable StatefulRedisClusterConnection<String, String> connection;
    private volatile @Nullable ClusterSubscriptions subscriptions;
    private volatile boolean closed;

    public ClusterConnections(RedisSettings settings, TimeSource time) {
        this.settings = settings;
        this.time = time;
        this.lastRefresh = new AtomicLong(time.nanoTime() - REFRESH_INTERVAL_NANOS);
        driver = new Driver(settings);
        cluster = RedisClusterClient.create(driver.resources(), settings.nodes());
        ClusterClientOptions.Builder options = ClusterClientOptions.builder();
        Driver.options(options, settings);
        cluster.setOptions(options.topologyRefreshOptions(whenToReadTheMap())
                .validateClusterNodeMembership(false)
                .build());
        nodes = RedisClient.create(driver.resources());
        nodes.setOptions(Driver.options(ClientOptions.builder(), settings).build());
        faithful = Driver.withoutReconnect(driver, settings);
        topologyEvents = driver.resources()
                .eventBus()
                .get()
                .filter(event -> event instanceof ClusterTopologyChangedEvent)
                .subscribe(event -> mapChanged());
    }

    /**
     * Lettuce 7 reads the cluster's map anew at each sign of a change, and says by a deprecation that this need not be asked for; Lettuce 6,
     * which Boot 3.5 brings, reads it each minute unless told, too late after a failover.
     */
    @SuppressWarnings("deprecation")
    private static ClusterTopologyRefreshOptions whenToReadTheMap() {
        return ClusterTopologyRefreshOptions.builder()
                .enableAllAdaptiveRefreshTriggers()
                .adaptiveRefreshTriggersTimeout(Duration.ofNanos(REFRESH_INTERVAL_NANOS))
                .enablePeriodicRefresh(Duration.ofSeconds(60))
                .build();
    }

    @Override
    public void onConnecting(Runnable connecting) {
        driver.onConnecting(connecting);
    }

    @Override
    public CompletionStage<Void> connect(Runnable whenReconnected) {
        reconnected = whenReconnected;
        return Handshakes.heard(() ->
                        cluster.refreshPartitionsAsync().thenCompose(read -> cluster.connectAsync(StringCodec.UTF8)))
                .thenCompose(made -> {
                    connection = made;
                    return connectMasters();
                });
    }

    @Override
    public RedisClusterAsyncCommands<String, String> commands() {
        return connection().async();
    }

    @Override
    public List<RedisClusterAsyncCommands<String, String>> servers() {
        List<RedisClusterAsyncCommands<String, String>> servers = new ArrayList<>();
        for (String node : masters()) {
            StatefulRedisConnection<String, String> made = connected.get(node);
            if (made != null) {
                servers.add(made.async());
            }
        }
        return servers;
    }

    @Override
    public CompletionStage<StatefulRedisConnection<String, String>> dedicated(String key) {
        String node = masterOf(group(key));
        if (node == null) {
            return CompletableFuture.failedFuture(uncovered(key));
        }
        return Handshakes.heard(() -> faithful.connectAsync(StringCodec.UTF8, uri(node)));
    }

    @Override
    public CompletionStage<Void> subscribe(
            RedisKeys keys, String clientId, Publishing publishing, RedisMessages messages) {
        ClusterSubscriptions created =
                new ClusterSubscriptions(this, keys, clientId, publishing, messages, time, settings.timeout());
        subscriptions = created;
        messages.from(created);
        return created.start();
    }

    @Override
    public int group(String key) {
        return RedisKeys.slot(key);
    }

    @Override
    public boolean reaches(String key) {
        String node = masterOf(group(key));
        StatefulRedisConnection<String, String> made = node == null ? null : connected.get(node);
        return made != null && made.isOpen();
    }

    @Override
    public ServerId server(String key) {
        String node = masterOf(group(key));
        return new ServerId(node == null ? "none" : node);
    }

    @Override
    public ServerClock clock(String key) {
        return clocks.computeIfAbsent(server(key).text(), node -> new ServerClock(time));
    }

    @Override
    public Duration patience() {
        return settings.timeout().compareTo(PATIENCE_MAX) < 0 ? settings.timeout() : PATIENCE_MAX;
    }

    @Override
    public void failed(String key, Throwable error) {
        Throwable cause = RedisErrors.unwrap(error);
        String said = cause == null ? "" : String.valueOf(cause.getMessage());
        if (!(cause instanceof RedisCommandExecutionException)
                || said.contains("MOVED ")
                || said.contains("CLUSTERDOWN ")
                || said.contains("READONLY ")) {
            refresh();
        }
    }

    /** Not one after the other: a node that hangs must not keep the others' connections silent. */
    @Override
    public void beat() {
        CompletionStage<Void> unused = connectMasters();
        List<RedisClusterAsyncCommands<String, String>> connections = new ArrayList<>(servers());
        // The connection for commands without a key is one of its own.
        connections.add(commands());
        connections.forEach(each -> {
            var unusedAnswer = each.ping();
        });
        ClusterSubscriptions messages = subscriptions;
        if (messages != null) {
            messages.beat();
        }
    }

    @Override
    public void close() {
        closed = true;
        topologyEvents.dispose();
        try {
            CompletableFuture.allOf(
                            nodes.shutdownAsync(0, 1, TimeUnit.SECONDS),
                            faithful.shutdownAsync(0, 1, TimeUnit.SECONDS),
                            cluster.shutdownAsync(0, 1, TimeUnit.SECONDS))
                    .orTimeout(2, TimeUnit.SECONDS)
                    // Whether or not anybody waits for the end of this: else threads are left.
                    .whenComplete((ended, error) -> driver.shutdown())
                    .get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            Log.LOG.log(System.Logger.Level.DEBUG, "Closing the connections failed", e);
        }
    }

    @Override
    public @Nullable String masterOf(int slot) {
        RedisClusterNode master = cluster.getPartitions().getMasterBySlot(slot);
        return master == null ? null : RedisSettings.address(master.getUri());
    }

    @Override
    public List<String> masters() {
        List<String> masters = new ArrayList<>();
        for (RedisClusterNode node : cluster.getPartitions()) {
            if (node.getRole() == RedisNodeDescription.Role.UPSTREAM && !node.hasNoSlots()) {
                masters.add(RedisSettings.address(node.getUri()));
            }
        }
        return masters;
    }

    @Override
    public CompletionStage<StatefulRedisPubSubConnection<String, String>> connectMessages(String node) {
        return Handshakes.heard(() -> nodes.connectPubSubAsync(StringCodec.UTF8, uri(node)));
    }

    /** Reads the map of slots again, but not at each of a thousand failures. */
    @Override
    public void refresh() {
        long now = time.nanoTime();
        long last = lastRefresh.get();
        if (!closed
                && now - last >= REFRESH_INTERVAL_NANOS
                && lastRefresh.compareAndSet(last, now)
                && refreshing.compareAndSet(false, true)) {
            cluster.refreshPartitionsAsync().whenComplete((read, error) -> {
                refreshing.set(false);
                if (error == null) {
                    mapChanged();
                }
            });
        }
    }

    private void mapChanged() {
        if (closed || connection == null) {
            return;
        }
        var unused = connectMasters();
        ClusterSubscriptions messages = subscriptions;
        if (messages != null) {
            messages.mapChanged();
        }
    }

    /** Commands are refused, not kept, while a node is being connected to: so it is done before there are any. */
    private CompletionStage<Void> connectMasters() {
        StatefulRedisClusterConnection<String, String> made = connection();
        List<CompletableFuture<?>> steps = new ArrayList<>();
        for (RedisClusterNode node : cluster.getPartitions()) {
            if (node.getRole() == RedisNodeDescription.Role.UPSTREAM && !node.hasNoSlots()) {
                RedisURI uri = node.getUri();
                steps.add(made.getConnectionAsync(uri.getHost(), uri.getPort(), ConnectionIntent.WRITE)
                        .handle((one, error) -> {
                            if (one != null) {
                                watch(RedisSettings.address(uri), one);
                            }
                            return one;
                        }));
            }
        }
        return CompletableFuture.allOf(steps.toArray(new CompletableFuture<?>[0]));
    }

    @SuppressWarnings("ReferenceEquality") // the same connection, not an equal one
    private void watch(String node, StatefulRedisConnection<String, String> made) {
        if (connected.put(node, made) == made) {
            return;
        }
        made.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisConnected(RedisChannelHandler<?, ?> handler, SocketAddress address) {
                ServerClock clock = clocks.get(node);
                if (clock != null) {
                    clock.forget();
                }
                reconnected.run();
            }

            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
                refresh();
            }
        });
    }

    private RedisURI uri(String node) {
        int colon = node.lastIndexOf(':');
        String host = node.substring(0, colon);
        return RedisURI.builder(settings.node())
                .withHost(host.startsWith("[") ? host.substring(1, host.length() - 1) : host)
                .withPort(Integer.parseInt(node.substring(colon + 1)))
                .build();
    }

    private StatefulRedisClusterConnection<String, String> connection() {
        StatefulRedisClusterConnection<String, String> made = connection;
        if (made == null) {
            throw new IllegalStateException("not connected yet");
        }
        return made;
    }

    private RedisCommandExecutionException uncovered(String key) {
        return new RedisCommandExecutionException("CLUSTERDOWN no node serves slot " + group(key));
    }
}
