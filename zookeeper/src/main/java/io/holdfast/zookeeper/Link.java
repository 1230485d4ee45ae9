package io.holdfast.zookeeper;

import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * Curator, set up as the store needs it: it connects, logs in, and makes a new session when one is over. Commands are sent
 * on the session itself: Curator would send some of them again, and the engine knows better what to do about a command that
 * failed.
 */
final class Link {

    private static final System.Logger LOG = System.getLogger(ZooKeeperLockStoreProvider.class.getName());
    private static final int CLOSE_MILLIS = 2_000;

    private final ZooKeeperErrors errors;
    private final TimeSource time;
    private final CuratorFramework curator;
    private final List<ACL> access;
    private volatile @Nullable Session session;
    private volatile boolean connected;
    private final AtomicInteger connection = new AtomicInteger();

    /** The session is known to have ended, and there is no other yet. */
    private volatile boolean over;

    private volatile boolean closed;

    private volatile Runnable reconnected = () -> {};
    private volatile LongConsumer sessionOver = id -> {};

    Link(ZooKeeperSettings settings, ZooKeeperErrors errors, TimeSource time) {
        this.errors = errors;
        this.time = time;
        this.access = access(settings);
        CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
                .connectString(settings.servers())
                .sessionTimeoutMs((int) settings.sessionTimeout().toMillis())
                .connectionTimeoutMs((int) settings.timeout().toMillis())
                .retryPolicy(new RetryForever(1_000))
                .ensembleTracker(false)
                .maxCloseWaitMs(CLOSE_MILLIS)
                .zkClientConfig(config(settings));
        if (settings.login() != null) {
            builder.authorization("digest", ZooKeeperSettings.bytes(settings.login()));
        }
        curator = builder.build();
        curator.getConnectionStateListenable().addListener((client, state) -> changed(state));
    }

    /** @param sessionOver told the id of a session whose nodes must not be relied on any more */
    void listen(Runnable reconnected, LongConsumer sessionOver) {
        this.reconnected = reconnected;
        this.sessionOver = sessionOver;
    }

    /** Waits until there is a session, for a bounded time. */
    Session connect(long millis) {
        curator.start();
        try {
            if (curator.blockUntilConnected((int) millis, TimeUnit.MILLISECONDS)) {
                changed(ConnectionState.CONNECTED);
                return session();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw errors.interrupted(e);
        }
        throw errors.unreachable();
    }

    /** The session that commands are sent on now. */
    Session session() {
        Session now = session;
        if (closed) {
            throw errors.closed();
        }
        if (!connected || now == null) {
            throw errors.disconnected();
        }
        return now;
    }

    /** For people. */
    Map<String, Object> describeSession() {
        Session now = session;
        String state = closed ? "closed" : now == null ? "none" : over ? "lost" : connected ? "connected" : "suspended";
        return now == null
                ? Map.of("session", state)
                : Map.of(
                        "session",
                        state,
                        "sessionId",
                        "0x" + Long.toHexString(now.id()),
                        "sessionTimeout",
                        now.timeoutMillis() + " ms");
    }

    /** Counts the reconnections: messages from before the last one may be missing. */
    int connection() {
        return connection.get();
    }

    /**
     * Ends the session, and with it all its nodes. Waits a bounded time for that; does not throw. Curator itself would wait
     * for servers that hang.
     */
    void close() {
        closed = true;
        Thread closing = new Thread(curator::close, "holdfast-zookeeper-close");
        closing.setDaemon(true);
        closing.start();
        try {
            closing.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void changed(ConnectionState state) {
        switch (state) {
            case CONNECTED, RECONNECTED -> {
                connection.incrementAndGet();
                adopt();
                if (state == ConnectionState.RECONNECTED) {
                    reconnected.run();
                }
            }
            // Nothing ends by this: what was promised is counted from confirmed writes.
            case SUSPENDED, READ_ONLY -> connected = false;
            case LOST -> {
                connected = false;
                over = true;
                Session ended = session;
                if (ended != null) {
                    sessionOver.accept(ended.id());
                }
            }
        }
    }

    private void adopt() {
        try {
            ZooKeeper handle = curator.getZookeeperClient().getZooKeeper();
            Session before = session;
            if (before == null || !before.isOf(handle)) {
                session = new Session(handle, access, time);
            }
            over = false;
            connected = true;
            if (before != null && before.id() != handle.getSessionId()) {
                sessionOver.accept(before.id());
            }
        } catch (Exception e) {
            // The connection has gone again; there will be another event.
            LOG.log(System.Logger.Level.DEBUG, "no session yet", e);
        }
    }

    private static List<ACL> access(ZooKeeperSettings settings) {
        return switch (settings.access()) {
            case OPEN -> ZooDefs.Ids.OPEN_ACL_UNSAFE;
            case CREATOR -> ZooDefs.Ids.CREATOR_ALL_ACL;
            case READ -> {
                List<ACL> both = new ArrayList<>(ZooDefs.Ids.CREATOR_ALL_ACL);
                both.addAll(ZooDefs.Ids.READ_ACL_UNSAFE);
                yield both;
            }
        };
    }

    private static ZKClientConfig config(ZooKeeperSettings settings) {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, "false");
        if (settings.tls()) {
            config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
            config.setProperty(
                    ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNetty");
            try (ClientX509Util names = new ClientX509Util()) {
                if (settings.ca() != null) {
                    config.setProperty(
                            names.getSslTruststoreLocationProperty(),
                            settings.ca().toString());
                }
                if (settings.cert() != null) {
                    config.setProperty(
                            names.getSslKeystoreLocationProperty(),
                            settings.cert().toString());
                }
            }
        }
        return config;
    }

    /** For messages of the constructor's caller. */
    StoreException failure(Throwable error) {
        return errors.of(error);
    }
}
