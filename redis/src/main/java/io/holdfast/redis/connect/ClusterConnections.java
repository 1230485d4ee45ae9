package io.holdfast.redis.connect;

import io.holdfast.redis.messages.ClusterNodes;
import io.holdfast.redis.messages.ClusterSubscriptions;
import io.holdfast.redis.messages.Publishing;
import io.holdfast.redis.messages.RedisMessages;
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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/**
 * The connections to a Redis Cluster: one for commands to each master, which the driver chooses by the key's slot, and
 * one for messages to each master at whose slots this client waits ({@link ClusterSubscriptions}).
 *
 * <p>A master that does not answer delays the commands on its own slots and no others.
 *
 * <p><b>Moved slots and failovers</b>: a node that redirects (MOVED, ASK) has done nothing, and the driver sends the
 * command to the node that it names. This class reads the map of slots again after each redirection, and after each
 * failure that may come from a changed map; that takes as long as the slowest node, at most the timeout. A command is
 * repeated for {@link #patience} while its node is being connected to, or answers TRYAGAIN because the slot is half
 * moved.
 */
public final class ClusterConnections implements RedisConnections, ClusterNodes {

    private static final long REFRESH_INTERVAL_NANOS = 200_000_000;
    private static final Duration PATIENCE_MAX = Duration.ofSeconds(1);

    private final RedisSettings settings;
    private final TimeSource time;
    private final Driver driver;
    private final RedisClusterClient cluster;

    /** Makes the connections to one node that the driver's cluster does not manage. */
    private final RedisClient nodes;

    /** Makes the connections that must never lead to another server. */
    private final RedisClient dedicated;

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
        driver = new Driver(settings, settings.resources());
        cluster = new ClusterClient(driver.resources(), settings.nodes());
        ClusterClientOptions.Builder options = ClusterClientOptions.builder();
        Driver.options(options, settings);
        cluster.setOptions(options.topologyRefreshOptions(mapRefresh())
                .validateClusterNodeMembership(false)
                .build());
        nodes = new AsyncClient(driver.resources());
        nodes.setOptions(Driver.options(ClientOptions.builder(), settings).build());
        dedicated = driver.clientWithoutReconnect(settings);
        topologyEvents = driver.resources()
                .eventBus()
                .get()
                .filter(event -> event instanceof ClusterTopologyChangedEvent)
                .subscribe(event -> mapChanged());
    }

    /**
     * Returns when to read the cluster's map again: at each sign of a change. Lettuce 7 does so by itself, so it
     * deprecates the setting. Lettuce 6, which Spring Boot 3.5 brings, reads it each minute by default: too late after
     * a failover.
     */
    @SuppressWarnings("deprecation")
    private static ClusterTopologyRefreshOptions mapRefresh() {
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
        return Handshakes.connect(() ->
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
    public CompletionStage<RedisClusterAsyncCommands<String, String>> commands(String key) {
        RedisClusterNode master = cluster.getPartitions().getMasterBySlot(group(key));
        if (master == null) {
            return CompletableFuture.failedFuture(uncovered(key));
        }
        RedisURI uri = master.getUri();
        return connection()
                .getConnectionAsync(uri.getHost(), uri.getPort(), ConnectionIntent.WRITE)
                .thenApply(StatefulRedisConnection::async);
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
        return Handshakes.connect(() -> dedicated.connectAsync(StringCodec.UTF8, uri(node)));
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
        if (!(RedisErrors.unwrap(error) instanceof RedisCommandExecutionException)
                || RedisErrors.hasCode(error, "MOVED", "CLUSTERDOWN", "READONLY")) {
            refresh();
        }
    }

    /** Does not wait for one node before the next: a node that hangs must not keep the other connections silent. */
    @Override
    public void beat() {
        CompletionStage<Void> unused = connectMasters();
        List<RedisClusterAsyncCommands<String, String>> connections = new ArrayList<>(servers());
        // Commands without a key have a connection of their own.
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
        driver.close(nodes, dedicated, cluster);
    }

    @Override
    public @Nullable String masterOf(int slot) {
        RedisClusterNode master = cluster.getPartitions().getMasterBySlot(slot);
        return master == null ? null : RedisSettings.address(master.getUri());
    }

    @Override
    public List<String> masters() {
        return masterUris().stream().map(RedisSettings::address).toList();
    }

    @Override
    public CompletionStage<StatefulRedisPubSubConnection<String, String>> connectMessages(String node) {
        return Handshakes.connect(() -> nodes.connectPubSubAsync(StringCodec.UTF8, uri(node)));
    }

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

    private List<RedisURI> masterUris() {
        List<RedisURI> masters = new ArrayList<>();
        for (RedisClusterNode node : cluster.getPartitions()) {
            if (node.getRole() == RedisNodeDescription.Role.UPSTREAM && !node.hasNoSlots()) {
                masters.add(node.getUri());
            }
        }
        return masters;
    }

    /** Connects to all masters ahead of the first command: the driver refuses commands to a node while it connects. */
    private CompletionStage<Void> connectMasters() {
        StatefulRedisClusterConnection<String, String> made = connection();
        List<CompletableFuture<?>> steps = new ArrayList<>();
        for (RedisURI uri : masterUris()) {
            steps.add(made.getConnectionAsync(uri.getHost(), uri.getPort(), ConnectionIntent.WRITE)
                    .handle((one, error) -> {
                        if (one != null) {
                            watch(RedisSettings.address(uri), one);
                        }
                        return one;
                    }));
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
