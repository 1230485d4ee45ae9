package io.holdfast.redis.connect;

import io.holdfast.redis.server.Log;
import io.holdfast.redis.server.RedisSettings;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Listens at each Sentinel for the announcement of a new master, and then cuts the connections to all other servers, so
 * that the driver asks for the master again. This class matters when the old master neither answers nor ends its
 * connections: without it the driver would ask later.
 */
final class SentinelWatch extends RedisPubSubAdapter<String, String> {

    private static final String CHANNEL = "+switch-master";

    private final RedisClient client;
    private final RedisSettings settings;
    private final Driver driver;

    /** The connections by Sentinel, without the Sentinels that could not be reached. */
    private final Map<RedisURI, CompletionStage<StatefulRedisPubSubConnection<String, String>>> links =
            new ConcurrentHashMap<>();

    SentinelWatch(RedisClient client, RedisSettings settings, Driver driver) {
        this.client = client;
        this.settings = settings;
        this.driver = driver;
    }

    /** Connects to the Sentinels that are not connected, and keeps the other connections alive. Does not block. */
    void beat() {
        for (RedisURI sentinel : settings.node().getSentinels()) {
            CompletionStage<StatefulRedisPubSubConnection<String, String>> link = links.get(sentinel);
            if (link == null) {
                connect(sentinel);
            } else {
                link.thenAccept(this::subscribe);
            }
        }
    }

    @Override
    public void message(String channel, String message) {
        // <master name> <old ip> <old port> <new ip> <new port>
        String[] parts = message.split(" ", -1);
        if (!channel.equals(CHANNEL)
                || parts.length < 5
                || !parts[0].equals(settings.node().getSentinelMasterId())) {
            return;
        }
        driver.cut(address -> !settings.isSentinel(address) && !isAt(address, parts[3], parts[4]));
    }

    /** Compares without resolving names, because this runs on an I/O thread. */
    private static boolean isAt(InetSocketAddress address, String host, String port) {
        InetAddress resolved = address.getAddress();
        return String.valueOf(address.getPort()).equals(port)
                && (address.getHostString().equals(host)
                        || (resolved != null && resolved.getHostAddress().equals(host)));
    }

    private void connect(RedisURI sentinel) {
        CompletionStage<StatefulRedisPubSubConnection<String, String>> link =
                client.connectPubSubAsync(StringCodec.UTF8, sentinel);
        links.put(sentinel, link);
        link.whenComplete((connection, error) -> {
            if (error == null) {
                connection.addListener(this);
                subscribe(connection);
            } else {
                Log.LOG.log(System.Logger.Level.DEBUG, "A Sentinel cannot be reached: " + error);
                links.remove(sentinel, link);
            }
        });
    }

    private void subscribe(StatefulRedisPubSubConnection<String, String> connection) {
        connection.async().subscribe(CHANNEL).whenComplete((ok, error) -> {
            if (error != null) {
                Log.LOG.log(System.Logger.Level.DEBUG, "A Sentinel refuses the subscription to new masters: " + error);
            }
        });
    }
}
