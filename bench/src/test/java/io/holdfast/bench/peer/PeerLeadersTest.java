package io.holdfast.bench.peer;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.LockClient;
import io.holdfast.Term;
import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatch.CloseMode;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.state.SessionConnectionStateErrorPolicy;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.leader.AbstractCandidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;

/**
 * When a leader learns that it leads no more, beside the leaders of other libraries: before the next one leads, or
 * after. In each test one node, {@code old}, leads, and another one, {@code next}, waits.
 */
@Timeout(60)
@Tag("deep") // quick: PeersTest, and LeadershipTest of core
class PeerLeadersTest {

    private static final Duration LEASE = Duration.ofSeconds(3);

    /** What the nodes learned, in order. */
    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();

    /** A leader that stops takes its time, until this is complete. */
    private final CompletableFuture<Void> mayStop = new CompletableFuture<>();

    // --- a leader that cannot reach its servers ---

    @Test
    void holdfastTellsALeaderThatIsCutOffBeforeTheNextLeads() throws Exception {
        try (RedisServer redis = RedisServer.start();
                FaultProxy proxy = FaultProxy.to(redis.host(), redis.port());
                LockClient old = holdfast(proxy.uri());
                LockClient next = holdfast(redis.uri())) {
            tellsBefore(old, next, proxy);
        }
    }

    @Test
    void holdfastOnZooKeeperTellsItToo() throws Exception {
        try (ZooKeeperEnsemble servers = ZooKeeperEnsemble.start(1);
                FaultProxy proxy = FaultProxy.to("127.0.0.1", servers.port(0));
                LockClient old = holdfast("zookeeper://127.0.0.1:" + proxy.port());
                LockClient next = holdfast(servers.uri())) {
            tellsBefore(old, next, proxy);
        }
    }

    private void tellsBefore(LockClient old, LockClient next, FaultProxy proxy) throws InterruptedException {
        mayStop.complete(null);
        Leadership first = old.leadership("billing", listener("old"));
        assertThat(next()).isEqualTo("old leads");
        next.leadership("billing", listener("next"));
        cutOff(proxy);
        assertThat(next()).isEqualTo("old stops");
        assertThat(next()).isEqualTo("old has stopped");
        assertThat(next()).isEqualTo("next leads");
        assertThat(first.isLeader()).isFalse();
    }

    /** Its heartbeat waits for an answer, for a minute by Lettuce's default, and the lock expires meanwhile. */
    @Test
    void springTellsALeaderThatIsCutOffAfterTheNextLeads() throws Exception {
        try (RedisServer redis = RedisServer.start();
                FaultProxy proxy = FaultProxy.to(redis.host(), redis.port());
                SpringNode old = new SpringNode("old", "127.0.0.1", proxy.port());
                SpringNode next = new SpringNode("next", redis.host(), redis.port())) {
            old.initiator.start();
            assertThat(next()).isEqualTo("old leads");
            next.initiator.start();
            cutOff(proxy);
            assertThat(next()).isEqualTo("next leads");
            assertThat(old.initiator.getContext().isLeader()).isTrue();
        }
    }

    /** By default, Curator calls notLeader() when the connection is suspended: before the session can end. */
    @Test
    void curatorTellsALeaderThatIsCutOffBeforeTheNextLeads() throws Exception {
        try (ZooKeeperEnsemble servers = ZooKeeperEnsemble.start(1);
                FaultProxy proxy = FaultProxy.to("127.0.0.1", servers.port(0));
                CuratorFramework old = curator(builder("127.0.0.1:" + proxy.port()));
                CuratorFramework next = curator(builder(servers.servers()))) {
            mayStop.complete(null);
            LeaderLatch first = latch(old, "old");
            assertThat(next()).isEqualTo("old leads");
            latch(next, "next");
            cutOff(proxy);
            assertThat(next()).isEqualTo("old stops");
            assertThat(next()).isEqualTo("old has stopped");
            assertThat(next()).isEqualTo("next leads");
            assertThat(first.hasLeadership()).isFalse();
        }
    }

    /** With this policy a short break of the connection does not end the leadership, and its own clock tells too late. */
    @Test
    void curatorWithItsSessionPolicyTellsItAfterTheNextLeads() throws Exception {
        try (ZooKeeperEnsemble servers = ZooKeeperEnsemble.start(1);
                FaultProxy proxy = FaultProxy.to("127.0.0.1", servers.port(0));
                CuratorFramework old = curator(builder("127.0.0.1:" + proxy.port())
                        .connectionStateErrorPolicy(new SessionConnectionStateErrorPolicy()));
                CuratorFramework next = curator(builder(servers.servers()))) {
            mayStop.complete(null);
            LeaderLatch first = latch(old, "old");
            assertThat(next()).isEqualTo("old leads");
            latch(next, "next");
            cutOff(proxy);
            assertThat(next()).isEqualTo("next leads");
            assertThat(first.hasLeadership()).isTrue();
        }
    }

    // --- a leader that is closed, and takes its time to stop ---

    @Test
    void holdfastHandsOverWhenTheOldLeaderHasStopped() throws Exception {
        try (RedisServer redis = RedisServer.start();
                LockClient old = LockClient.connect(redis.uri());
                LockClient next = LockClient.connect(redis.uri())) {
            Leadership first = old.leadership("billing", listener("old"));
            assertThat(next()).isEqualTo("old leads");
            next.leadership("billing", listener("next"));
            CompletableFuture<Void> closing = CompletableFuture.runAsync(first::close);
            assertThat(next()).isEqualTo("old stops");
            assertThat(told.poll(1, SECONDS)).isNull();
            mayStop.complete(null);
            assertThat(next()).isEqualTo("old has stopped");
            assertThat(next()).isEqualTo("next leads");
            closing.get(30, SECONDS);
        }
    }

    @Test
    void springHandsOverBeforeTheOldLeaderStops() throws Exception {
        try (RedisServer redis = RedisServer.start();
                SpringNode old = new SpringNode("old", redis.host(), redis.port());
                SpringNode next = new SpringNode("next", redis.host(), redis.port())) {
            old.initiator.start();
            assertThat(next()).isEqualTo("old leads");
            next.initiator.start();
            old.initiator.stop();
            assertThat(List.of(next(), next())).containsExactlyInAnyOrder("old stops", "next leads");
            mayStop.complete(null);
        }
    }

    /** And by default, close() does not tell the listener at all. */
    @Test
    void curatorHandsOverBeforeTheOldLeaderStops() throws Exception {
        try (ZooKeeperEnsemble servers = ZooKeeperEnsemble.start(1);
                CuratorFramework old = curator(builder(servers.servers()));
                CuratorFramework next = curator(builder(servers.servers()))) {
            LeaderLatch first = latch(old, "old");
            assertThat(next()).isEqualTo("old leads");
            latch(next, "next");
            CompletableFuture<Void> closing = CompletableFuture.runAsync(() -> closeAndTell(first));
            assertThat(List.of(next(), next())).containsExactlyInAnyOrder("old stops", "next leads");
            mayStop.complete(null);
            closing.get(30, SECONDS);
        }
    }

    // --- the nodes ---

    /** What a node learns next. */
    private String next() throws InterruptedException {
        String next = told.poll(30, SECONDS);
        assertThat(next).isNotNull();
        return next;
    }

    /** The servers hear nothing more of it, and it nothing of them; and nobody tells it that. */
    private static void cutOff(FaultProxy proxy) {
        proxy.holdRequests(true);
        proxy.dropReplies(true);
    }

    private static LockClient holdfast(String uri) {
        return LockClient.builder().uri(uri).leaseTime(LEASE).build();
    }

    private LeadershipListener listener(String node) {
        return new LeadershipListener() {
            @Override
            public void onElected(Term term) {
                told.add(node + " leads");
            }

            @Override
            public void onRevoked(Term term) {
                stop(node);
            }
        };
    }

    private void stop(String node) {
        told.add(node + " stops");
        mayStop.join(); // whether or not it is interrupted
        told.add(node + " has stopped");
    }

    private static CuratorFrameworkFactory.Builder builder(String servers) {
        return CuratorFrameworkFactory.builder()
                .connectString(servers)
                .sessionTimeoutMs((int) LEASE.toMillis())
                .connectionTimeoutMs((int) LEASE.toMillis())
                .retryPolicy(new RetryOneTime(100));
    }

    private static CuratorFramework curator(CuratorFrameworkFactory.Builder builder) {
        CuratorFramework client = builder.build();
        client.start();
        return client;
    }

    private LeaderLatch latch(CuratorFramework client, String node) throws Exception {
        LeaderLatch latch = new LeaderLatch(client, "/billing", node);
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                told.add(node + " leads");
            }

            @Override
            public void notLeader() {
                stop(node);
            }
        });
        latch.start();
        return latch;
    }

    private static void closeAndTell(LeaderLatch latch) {
        try {
            latch.close(CloseMode.NOTIFY_LEADER);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A node with a lock registry, and so a connection, of its own. */
    private final class SpringNode extends AbstractCandidate implements AutoCloseable {

        private final String node;
        private final LettuceConnectionFactory connections;
        private final RedisLockRegistry locks;
        final LockRegistryLeaderInitiator initiator;

        SpringNode(String node, String host, int port) {
            super(node, "billing");
            this.node = node;
            connections = new LettuceConnectionFactory(host, port);
            connections.afterPropertiesSet();
            connections.start();
            locks = new RedisLockRegistry(connections, "leaders", LEASE);
            initiator = new LockRegistryLeaderInitiator(locks, this);
        }

        @Override
        public void onGranted(Context context) {
            told.add(node + " leads");
        }

        @Override
        public void onRevoked(Context context) {
            stop(node);
        }

        @Override
        public void close() {
            mayStop.complete(null);
            initiator.destroy();
            locks.destroy();
            connections.destroy();
        }
    }
}
