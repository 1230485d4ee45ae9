package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RecordStore;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewRequest;
import io.holdfast.testkit.contract.RecordingListener;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisCluster;
import io.holdfast.testkit.servers.RedisReplication;
import io.holdfast.testkit.servers.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The ACL lines in the documentation are enough, on each kind of servers. */
class LeastRightsTest {

    /** As documented for one server. */
    private static final String SERVER =
            "~lock:* ~holdfast:* &holdfast:c:* &redisson_lock__channel:* " + RedisOpeningTest.LEAST_RIGHTS;

    private static final String REPLICATED = SERVER + " +wait";
    private static final String CLUSTER = SERVER + " +cluster|nodes +cluster|myid +asking";
    private static final String CLUSTER_7 = CLUSTER + " +spublish +ssubscribe +sunsubscribe";
    private static final String SENTINEL = "&+switch-master +sentinel|get-master-addr-by-name +subscribe +ping +client";

    @Test
    void theDocumentedLinesAreThese() throws IOException {
        String line = "ACL SETUSER app on resetchannels >password " + SERVER;
        assertThat(words("../docs/stores/redis.md"))
                .contains(line + " ```")
                .contains("| with `minReplicas` | also `" + REPLICATED.substring(SERVER.length() + 1) + "` |")
                .contains("| in a cluster | also `" + CLUSTER.substring(SERVER.length() + 1) + "` |")
                .contains("also `" + CLUSTER_7.substring(CLUSTER.length() + 1) + "` |")
                .contains("only `" + SENTINEL + "` |");
        assertThat(words("src/main/java/io/holdfast/redis/RedisLockStoreProvider.java"))
                .contains(line + " </pre>")
                .contains(CLUSTER.substring(SERVER.length() + 1))
                .contains(CLUSTER_7.substring(CLUSTER.length() + 1))
                .contains(SENTINEL);
    }

    private static String words(String file) throws IOException {
        return Files.readString(Path.of(file))
                .replace("\\|", "|")
                .replace("&gt;", ">")
                .replace("&amp;", "&")
                .replaceAll("(?m)^ \\*", "")
                .replaceAll("[ \\n]+", " ");
    }

    @Test
    void atAMasterWithSentinels() {
        try (RedisReplication all = RedisReplication.builder().sentinels().start()) {
            all.servers().forEach(server -> grant(server, REPLICATED));
            all.sentinels().forEach(sentinel -> grant(sentinel, SENTINEL));
            use(all.sentinelUri()
                    .replace("://", "://app:pw@")
                    .replace("#", "?minReplicas=1&sentinelUser=app&sentinelPassword=pw#"));
            List<String> denied = new ArrayList<>();
            all.servers().forEach(server -> denied.add(String.valueOf(server.command("ACL", "LOG"))));
            all.sentinels().forEach(server -> denied.add(String.valueOf(server.command("ACL", "LOG"))));
            assertThat(denied).as("refused").containsOnly("[]");
        }
    }

    @ParameterizedTest
    @Tag("deep") // quick: atAMasterWithSentinels, and RedisClusterStoreTest
    @MethodSource("io.holdfast.redis.RedisClusterContractTest#servers")
    void inACluster(Installation installation) {
        try (RedisCluster cluster = RedisCluster.builder()
                .installation(installation)
                .replicasEach(0)
                .start()) {
            boolean sharded = installation.isAtLeast(7, 0);
            cluster.nodes().forEach(node -> grant(node, sharded ? CLUSTER_7 : CLUSTER));
            use(cluster.uri().replace("://", "://app:pw@"));
            cluster.nodes()
                    .forEach(node -> assertThat(String.valueOf(node.command("ACL", "LOG")))
                            .as("refused by " + node)
                            .isEqualTo("[]"));
        }
    }

    /** The line of the mode {@code commands}, with the cards, on any server. */
    @Test
    void inTheModeCommands() throws Exception {
        String page = words("../docs/stores/redis.md");
        String line = page.substring(page.indexOf("**Rights**, besides"), page.indexOf("**What is weaker"));
        assertThat(words("../docs/zh/redis.md")).contains("`+zadd +zcard +zrem +zremrangebyscore +zrevrange +zscore`");
        try (RedisServer server = RedisServer.start()) {
            List<String> rights =
                    new ArrayList<>(List.of("~lock:*", "~holdfast:*", "&holdfast:c:*", "&redisson_lock__channel:*"));
            // Servers that do not know these commands refuse a rule with them, and use WATCH instead.
            List<String> newer = List.of("delifeq", "delex");
            Matcher right = Pattern.compile("\\+([a-z]+)").matcher(line);
            while (right.find()) {
                if (!newer.contains(right.group(1))) {
                    rights.add(right.group());
                }
            }
            grant(server, String.join(" ", rights));
            String uri = "redis://app:pw@" + server.host() + ":" + server.port() + "?mode=commands&namePrefix=lock:";
            try (LockClient a = LockClient.connect(uri);
                    LockClient b = LockClient.connect(uri)) {
                Lease held = a.acquire("order:1");
                assertThat(b.tryAcquire("order:1")).isEmpty();
                for (int i = 0; i < 300 && b.cards().size() < 2; i++) {
                    Thread.sleep(100);
                }
                assertThat(b.cards()).as("both clients have a card").hasSize(2);
                assertThat(b.inspect("order:1").isLocked()).isTrue();
                held.extend(Duration.ofSeconds(60));
                held.release();
            }
            assertThat(String.valueOf(server.command("ACL", "LOG")))
                    .as("refused")
                    .isEqualTo("[]");
        }
    }

    private static void use(String uri) {
        String prefixed = TestClient.with(uri, "namePrefix=lock:");
        try (TestClient a = new TestClient(prefixed);
                TestClient b = new TestClient(prefixed)) {
            for (int i = 0; i < 5; i++) {
                String name = "order:" + i;
                String held = a.hold(name);
                String waiting = b.queue(name);
                a.renew(name, held, 30_000);
                RecordStore records = a.store.records().orElseThrow();
                assertThat(TestClient.get(records.keep(name, held, "done", Duration.ofMinutes(1))))
                        .isTrue();
                assertThat(TestClient.get(records.find(name))).contains("done");
                a.release(name, held);
                b.await("granted " + name + " " + waiting, 5_000);
                b.acquire(name, waiting, 30_000, true);
                b.abandon(name, waiting);
                a.inspect(name);
            }
            usePermits(a);
        }
    }

    /** One of two holds runs out behind a waiter, so the scripts use all commands that they have. */
    private static void usePermits(TestClient a) {
        LockStore pools = a.store.pools().orElseThrow();
        pools.listen(new RecordingListener());
        for (int i = 0; i < 5; i++) {
            String name = "export:" + i;
            String held = a.newHolder();
            String ends = a.newHolder();
            TestClient.get(pools.acquire(AcquireRequest.once(name, held, 30_000).weighing(1, 2)));
            TestClient.get(pools.acquire(AcquireRequest.once(name, ends, 30_000).weighing(1, 2)));
            String waiting = a.newHolder();
            TestClient.get(pools.acquire(a.request(name, waiting, 30_000, true).weighing(2, 2)));
            TestClient.get(pools.renew(RenewRequest.set(name, ends, 1, 1)));
            TestClient.get(pools.renew(RenewRequest.extend(name, held, 60_000, 0)));
            TestClient.get(pools.release(ReleaseRequest.of(name, held)));
            TestClient.get(pools.acquire(a.request(name, waiting, 30_000, true).weighing(2, 2)));
            TestClient.get(pools.abandon(name, waiting));
            TestClient.get(pools.forceRelease(name, null));
            assertThat(TestClient.get(pools.inspect(name)).used()).isZero();
        }
    }

    private static void grant(RedisServer server, String rights) {
        List<String> command = new ArrayList<>(List.of("ACL", "SETUSER", "app", "on", ">pw", "resetchannels"));
        command.addAll(Arrays.asList(rights.split(" ")));
        server.command("ACL", "LOG", "RESET");
        server.command(command.toArray(new String[0]));
    }
}
