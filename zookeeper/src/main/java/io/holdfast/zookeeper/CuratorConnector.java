package io.holdfast.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/** Connects by Curator, which logs in and makes a new session when one is over. */
final class CuratorConnector implements Connector {

    private final NamedThreads threads = new NamedThreads();
    private final ZooKeeperSettings settings;
    private final ZKClientConfig config;
    private final CuratorFramework curator;
    private final List<ACL> access;

    CuratorConnector(ZooKeeperSettings settings) {
        this.settings = settings;
        access = access(settings);
        config = config(settings);
        CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
                .threadFactory(threads)
                .zookeeperFactory(threads)
                .connectString(settings.servers())
                .sessionTimeoutMs((int) settings.sessionTimeout().toMillis())
                .connectionTimeoutMs((int) settings.timeout().toMillis())
                .retryPolicy(new RetryForever(1_000))
                .ensembleTracker(false)
                .maxCloseWaitMs(CurrentSession.CLOSE_MILLIS)
                .zkClientConfig(config);
        if (settings.login() != null) {
            builder.authorization("digest", settings.login().getBytes(StandardCharsets.UTF_8));
        }
        curator = builder.build();
    }

    @Override
    public void listen(Consumer<ConnectionState> changed) {
        curator.getConnectionStateListenable().addListener((client, state) -> changed.accept(state));
    }

    @Override
    public void start() {
        curator.start();
    }

    @Override
    public @Nullable Throwable reason(long millis) {
        Throwable notMade = threads.failure();
        return notMade != null || !settings.tls() ? notMade : TlsProbe.failure(settings.servers(), config, millis);
    }

    @Override
    public Handle handle() throws Exception {
        return new ZooKeeperHandle(curator.getZookeeperClient().getZooKeeper(), access);
    }

    @Override
    public void close() {
        curator.close();
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

    static ZKClientConfig config(ZooKeeperSettings settings) {
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
}
