package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreState;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Lost answers, and servers that refuse. */
@Timeout(120)
class ZooKeeperFaultTest {

    private static ZooKeeperEnsemble servers;

    private final String name = "fault:" + UUID.randomUUID();

    @BeforeAll
    static void start() {
        servers = ZooKeeperEnsemble.start(1);
    }

    @AfterAll
    static void stop() {
        servers.close();
    }

    @Test
    void a_create_whose_answer_was_lost_is_found_again_and_not_repeated() throws Exception {
        try (FaultProxy proxy = FaultProxy.to("127.0.0.1", servers.port(0));
                LockStore store =
                        open("zookeeper://127.0.0.1:" + proxy.port() + "?sessionTimeout=20s&timeout=6s", "c1");
                LockStore healthy = open(servers.uri(), "c2")) {
            makeFolder(healthy);
            proxy.holdReplies(true);
            CompletionStage<AcquireReply> lost = store.acquire(request("c1:1"));
            await().until(() -> "c1:1".equals(get(healthy.inspect(name)).holder()));
            proxy.cutAll();
            assertThat(failure(lost).outcome()).isEqualTo(StoreException.Outcome.UNKNOWN);
            proxy.holdReplies(false);

            long base = get(healthy.inspect(name)).base();
            await().atMost(Duration.ofSeconds(40))
                    .ignoreExceptions()
                    .untilAsserted(() -> assertThat(get(store.acquire(request("c1:1"))))
                            .isEqualTo(new AcquireReply.Granted(base, 0, 20_000 * 2 / 3)));
            assertThat(get(healthy.inspect(name)).waiting()).isZero();
            assertThat(get(store.release(ReleaseRequest.of(name, "c1:1")))).isEqualTo(ReleaseReply.released());
            assertThat(get(healthy.inspect(name))).isEqualTo(StoreState.free(0));
        }
    }

    @Test
    @Tag("deep") // quick: the test above
    void a_create_whose_answer_was_lost_and_that_is_given_up_leaves_no_orphan() throws Exception {
        try (FaultProxy proxy = FaultProxy.to("127.0.0.1", servers.port(0));
                LockStore store =
                        open("zookeeper://127.0.0.1:" + proxy.port() + "?sessionTimeout=20s&timeout=6s", "c1");
                LockStore healthy = open(servers.uri(), "c2")) {
            makeFolder(healthy);
            proxy.holdReplies(true);
            CompletionStage<AcquireReply> lost = store.acquire(request("c1:1"));
            await().until(() -> "c1:1".equals(get(healthy.inspect(name)).holder()));
            proxy.cutAll();
            failure(lost);
            proxy.holdReplies(false);
            await().atMost(Duration.ofSeconds(40))
                    .ignoreExceptions()
                    .untilAsserted(
                            () -> assertThat(get(store.abandon(name, "c1:1"))).isTrue());
            assertThat(get(healthy.inspect(name))).isEqualTo(StoreState.free(0));
            assertThat(((ZooKeeperLockStore) store).size()).isZero();
        }
    }

    @Test
    void a_release_and_requeue_whose_answer_was_lost_is_found_out() throws Exception {
        try (FaultProxy proxy = FaultProxy.to("127.0.0.1", servers.port(0));
                LockStore store =
                        open("zookeeper://127.0.0.1:" + proxy.port() + "?sessionTimeout=20s&timeout=6s", "c1");
                LockStore healthy = open(servers.uri(), "c2")) {
            assertThat(get(store.acquire(request("c1:1")))).isInstanceOf(AcquireReply.Granted.class);
            assertThat(get(healthy.acquire(request("c2:1")))).isInstanceOf(AcquireReply.Busy.class);
            proxy.holdReplies(true);
            CompletionStage<ReleaseReply> lost =
                    store.release(ReleaseRequest.requeueing(name, "c1:1", request("c1:2")));
            await().until(() -> "c2:1".equals(get(healthy.inspect(name)).holder()));
            proxy.cutAll();
            failure(lost);
            proxy.holdReplies(false);
            await().atMost(Duration.ofSeconds(40))
                    .ignoreExceptions()
                    .untilAsserted(
                            () -> assertThat(get(store.abandon(name, "c1:1"))).isFalse());
            assertThat(get(store.acquire(request("c1:2")))).isInstanceOf(AcquireReply.Busy.class);
            assertThat(get(healthy.inspect(name)).waiting()).isEqualTo(1);
        }
    }

    @Test
    @Tag("deep") // quick: a_server_that_is_not_there_is_said_so_in_time
    void a_server_that_hangs_is_an_unknown_outcome_in_time() throws Exception {
        try (LockStore store = open(servers.uri() + "?sessionTimeout=20s&timeout=6s", "c1")) {
            get(store.inspect(name));
            servers.pause(0);
            try {
                assertThat(failure(store.acquire(request("c1:1"))).outcome()).isEqualTo(StoreException.Outcome.UNKNOWN);
            } finally {
                servers.resume(0);
            }
            await().atMost(Duration.ofSeconds(40))
                    .ignoreExceptions()
                    .untilAsserted(
                            () -> assertThat(get(store.abandon(name, "c1:1"))).isTrue());
            assertThat(get(store.inspect(name))).isEqualTo(StoreState.free(0));
        }
    }

    @Test
    void others_cannot_touch_what_a_login_owns() throws Exception {
        String folder = "/owned-" + UUID.randomUUID();
        try (LockStore owner = open(servers.uri().replace("//", "//app:secret@") + folder, "c1")) {
            assertThat(get(owner.acquire(request("c1:1")))).isInstanceOf(AcquireReply.Granted.class);
            for (String uri : new String[] {servers.uri(), servers.uri().replace("//", "//app:wrong@")}) {
                assertThatThrownBy(() -> open(uri + folder, "c2"))
                        .isInstanceOf(StoreException.class)
                        .hasMessageContaining(folder)
                        .hasMessageContaining("in the URI")
                        .hasMessageNotContaining("wrong@")
                        .hasMessageNotContaining("null")
                        .extracting(e -> ((StoreException) e).outcome())
                        .isEqualTo(StoreException.Outcome.FATAL);
            }
        }
    }

    /** Servers first check the rights to the parent node. */
    @Test
    void a_folder_that_an_administrator_has_made_needs_no_right_to_the_node_above() throws Exception {
        String above = "/apps-" + UUID.randomUUID();
        ZooKeeper administrator = new ZooKeeper(servers.servers(), 10_000, event -> {});
        try {
            await().until(() -> administrator.getState().isConnected());
            administrator.addAuthInfo("digest", "app:secret".getBytes(StandardCharsets.UTF_8));
            administrator.create(above, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            administrator.create(above + "/locks", new byte[0], ZooDefs.Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
            administrator.setACL(above, ZooDefs.Ids.READ_ACL_UNSAFE, -1);
        } finally {
            administrator.close();
        }
        String uri = servers.uri().replace("//", "//app:secret@") + above;
        try (LockStore store = open(uri + "/locks", "c1")) {
            assertThat(get(store.acquire(request("c1:1")))).isInstanceOf(AcquireReply.Granted.class);
        }
        assertThatThrownBy(() -> open(uri + "/others", "c1"))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("does not have the right to use the node " + above + "/others");
    }

    @Test
    void others_may_look_at_what_a_login_owns_if_it_says_so() throws Exception {
        String folder = "/shown-" + UUID.randomUUID();
        ZooKeeper stranger = new ZooKeeper(servers.servers(), 10_000, event -> {});
        try (LockStore owner = open(servers.uri().replace("//", "//app:secret@") + folder + "?acl=read", "c1")) {
            assertThat(get(owner.acquire(request("c1:1")))).isInstanceOf(AcquireReply.Granted.class);
            await().until(() -> stranger.getState().isConnected());
            String lock = folder + "/" + NodeNames.encode(name);
            List<String> nodes = stranger.getChildren(lock, false);
            assertThat(nodes).hasSize(1);
            String node = lock + "/" + nodes.get(0);
            assertThat(stranger.getData(node, false, null)).isNotEmpty();
            assertThatThrownBy(() -> stranger.delete(node, -1)).isInstanceOf(KeeperException.NoAuthException.class);
            assertThatThrownBy(() -> stranger.setData(node, new byte[0], -1))
                    .isInstanceOf(KeeperException.NoAuthException.class);
        } finally {
            stranger.close();
        }
    }

    /** So the holder cannot watch it. */
    @Test
    @Tag("deep") // quick: others_may_look_at_what_a_login_owns_if_it_says_so
    void a_waiter_whose_node_nobody_else_may_read_costs_its_holder_a_look_now_and_then() throws Exception {
        String folder = "/open-" + UUID.randomUUID();
        ZooKeeper stranger = new ZooKeeper(servers.servers(), 10_000, event -> {});
        try (LockStore store = open(servers.uri() + folder + "?sessionTimeout=20s", "c1")) {
            assertThat(get(store.acquire(request("c1:1")))).isInstanceOf(AcquireReply.Granted.class);
            await().until(() -> stranger.getState().isConnected());
            stranger.addAuthInfo("digest", "app:secret".getBytes(StandardCharsets.UTF_8));
            stranger.create(
                    folder + "/" + NodeNames.encode(name) + "/" + QueueSnapshot.prefix("c2:1", stranger.getSessionId()),
                    new byte[0],
                    ZooDefs.Ids.CREATOR_ALL_ACL,
                    CreateMode.EPHEMERAL_SEQUENTIAL);
            Thread.sleep(500);
            long before = received();
            Thread.sleep(2_000);
            assertThat(received() - before).isLessThan(50);
            assertThat(get(store.inspect(name)).holder()).isEqualTo("c1:1");
        } finally {
            stranger.close();
        }
    }

    @Test
    void a_server_that_is_not_there_is_said_so_in_time() {
        assertThatThrownBy(() -> open("zookeeper://127.0.0.1:1?timeout=300ms", "c1"))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("zookeeper://127.0.0.1:1/holdfast cannot be reached within 300 ms");
    }

    /** So that what is held up is the create of the node, not of its folder. */
    private void makeFolder(LockStore store) throws Exception {
        get(store.acquire(request("c2:0")));
        get(store.abandon(name, "c2:0"));
    }

    /** The number of requests by the server's own count; includes pings and the requests for this number. */
    private static long received() {
        return servers.count(0, "zk_packets_received");
    }

    private AcquireRequest request(String holderId) {
        return AcquireRequest.queueing(name, holderId, 30_000, 20_000);
    }

    private static LockStore open(String uri, String clientId) {
        return new ZooKeeperLockStoreProvider().open(URI.create(uri), new StoreContext(clientId, TimeSource.system()));
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(40, TimeUnit.SECONDS);
    }

    private static StoreException failure(CompletionStage<?> stage) {
        try {
            Object answer = stage.toCompletableFuture().join();
            throw new AssertionError("answered " + answer);
        } catch (CompletionException e) {
            return (StoreException) e.getCause();
        }
    }
}
