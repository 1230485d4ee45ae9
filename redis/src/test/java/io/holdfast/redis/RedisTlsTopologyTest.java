package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.abort;

import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.servers.RedisCluster;
import io.holdfast.testkit.servers.RedisReplication;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.ServerTls;
import io.holdfast.testkit.servers.ThrowAwayCa;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * TLS to the Sentinels, to the servers that they name, and to each node of a cluster. All of them ask for a certificate
 * ({@code tls-auth-clients yes}).
 */
@Tag("deep") // quick: RedisTlsTest
@Timeout(120)
class RedisTlsTopologyTest {

    @TempDir
    static Path dir;

    private static ThrowAwayCa ca;

    @BeforeAll
    static void certificates() throws Exception {
        ca = new ThrowAwayCa(dir.resolve("ca"), "ip:127.0.0.1");
    }

    /** With a login of their own at the Sentinels, which have a user with the documented rights and no others. */
    @Test
    void withSentinels() {
        try (RedisReplication all = startOrAbort(() -> RedisReplication.builder()
                .sentinels()
                // Not so soon that a busy machine brings about failovers that the test has not ordered.
                .downAfter(Duration.ofSeconds(2))
                .tls(tls())
                .start())) {
            for (RedisServer sentinel : all.sentinels()) {
                sentinel.command(
                        "ACL SETUSER watch on >secret resetchannels &+switch-master +sentinel|get-master-addr-by-name"
                                .concat(" +subscribe +ping +client")
                                .split(" "));
            }
            for (RedisServer server : all.servers()) {
                server.command("ACL", "SETUSER", "app", "on", ">pw", "~*", "&*", "+@all");
            }
            String login = all.sentinelUri().replace("://", "://app:pw@");
            String uri = login.replace("#", "?timeout=2s&sentinelUser=watch&sentinelPassword=secret&" + files() + "#");
            try (TestClient a = new TestClient(uri);
                    TestClient b = new TestClient(uri)) {
                String held = a.hold("n");
                String waiting = b.queue("n");
                assertThat(String.valueOf(all.sentinels().get(0).command("CLIENT", "LIST")))
                        .contains("user=watch");
                assertThat(String.valueOf(all.master().command("CLIENT", "LIST")))
                        .contains("user=app");
                assertThat(a.store.describe()).startsWith("rediss-sentinel://");

                // And to the next master.
                all.awaitInStep();
                RedisServer first = all.master();
                first.kill();
                all.awaitMasterOtherThan(first);
                b.await("reconnected", 20_000);
                RedisSentinelTest.eventually(a, "n", held);
                RedisSentinelTest.eventually(b, "n", waiting);
                assertThat(a.release("n", held)).isTrue();
                RedisSentinelTest.polledUntilGranted(b, "n", waiting);
                b.release("n", waiting);
            }

            RedisURI sentinels = RedisURI.Builder.sentinel("127.0.0.1", 1, RedisReplication.MASTER_NAME)
                    .withSsl(true)
                    .withAuthentication("app", "pw")
                    .build();
            sentinels.getSentinels().clear();
            for (RedisServer sentinel : all.sentinels()) {
                sentinels
                        .getSentinels()
                        .add(RedisURI.builder()
                                .withHost(sentinel.host())
                                .withPort(sentinel.announcedPort())
                                .withSsl(true)
                                .withAuthentication("watch", "secret")
                                .build());
            }
            // Sentinels close a server's connections when they give it another part, also one that is just being made.
            all.awaitInStep();
            inCode(RedisStores.sentinel(sentinels));

            refusals(login.replace("#", "?timeout=2s&sentinelUser=watch&sentinelPassword=secret#"));
        }
    }

    /** The Sentinels are reached by a name that their certificate has, and announce an address that it has not. */
    @Test
    void anAnnouncedAddressThatTheCertificateLacksIsNamed() throws Exception {
        ThrowAwayCa named = new ThrowAwayCa(dir.resolve("named"), "dns:localhost");
        ServerTls tls = new ServerTls(named.certificate(), named.key(), named.ca());
        try (RedisReplication all = startOrAbort(
                () -> RedisReplication.builder().sentinels().tls(tls).start())) {
            String sentinel = "localhost:" + all.sentinels().get(0).announcedPort();
            String uri = all.sentinelUri(sentinel)
                    .replace(
                            "#",
                            "?timeout=5s&ca=" + named.ca() + "&cert=" + named.certificate() + "&key=" + named.key()
                                    + "#");
            String master = "127.0.0.1:" + all.master().announcedPort();
            assertThat(failure(uri).getMessage())
                    .startsWith(
                            "No TLS connection to " + master + ", the master that the Sentinels of rediss-sentinel://"
                                    + sentinel + "/0#" + RedisReplication.MASTER_NAME + " announced: ")
                    .contains("(the certificate must be for " + master)
                    .endsWith("; or let the Sentinels announce a name that the certificate is for)");
        }
    }

    @Test
    void inACluster() {
        try (RedisCluster cluster =
                startOrAbort(() -> RedisCluster.builder().tls(tls()).start())) {
            for (RedisServer node : cluster.nodes()) {
                node.command("ACL", "SETUSER", "app", "on", ">pw", "~*", "&*", "+@all");
            }
            String login = cluster.uri().replace("://", "://app:pw@") + "?timeout=10s";
            try (TestClient a = new TestClient(login + "&" + files());
                    TestClient b = new TestClient(login + "&" + files())) {
                assertThat(a.store.describe()).startsWith("rediss-cluster://");
                // Some on each master.
                for (int i = 0; i < 12; i++) {
                    String held = a.hold("n" + i);
                    String waiting = b.queue("n" + i);
                    assertThat(a.release("n" + i, held)).isTrue();
                    b.await("granted n" + i + " " + waiting, 5_000);
                    b.release("n" + i, waiting);
                }
                // And to a new one.
                String held = a.hold("m");
                RedisServer master = cluster.nodeOf("m");
                cluster.failover(master);
                assertThat(RedisSentinelTest.eventually(a, "m", held)).isInstanceOf(Granted.class);
                assertThat(a.release("m", held)).isTrue();
            }
            RedisServer node = cluster.nodes().get(0);
            inCode(RedisStores.cluster(List.of(RedisURI.builder()
                    .withHost(node.host())
                    .withPort(node.announcedPort())
                    .withSsl(true)
                    .withAuthentication("app", "pw")
                    .build())));

            refusals(login);
            wrongPassword(login);
        }
    }

    /** With what a URI cannot say. */
    private static void inCode(RedisStores.Builder builder) {
        builder.sslOptions(SslOptions.builder()
                .jdkSslProvider()
                .trustManager(ca.ca().toFile())
                .keyManager(ca.certificate().toFile(), ca.key().toFile(), new char[0])
                .build());
        try (TestClient a = new TestClient(builder::open);
                TestClient b = new TestClient(builder::open)) {
            String held = a.hold("c");
            String waiting = b.queue("c");
            assertThat(a.release("c", held)).isTrue();
            b.await("granted c " + waiting, 5_000);
        }
    }

    private static void refusals(String uri) {
        StoreException untrusted = failure(uri);
        assertThat(untrusted.getMessage())
                .startsWith("No TLS connection to redis")
                .contains("?ca=/path/ca.pem");
        StoreException anonymous = failure(with(uri, "ca=" + ca.ca()));
        assertThat(anonymous.getMessage())
                .startsWith("No TLS connection to redis")
                .contains("?cert=/path/client.pem&key=/path/client.key");
        assertThat(anonymous.outcome()).isEqualTo(StoreException.Outcome.FATAL);
    }

    private static void wrongPassword(String uri) {
        StoreException refused = failure(with(uri.replace("app:pw@", "app:n0tThis@"), files()));
        assertThat(refused.getMessage())
                .contains("refused the password of the user app")
                .doesNotContain("n0tThis");
        assertThat(refused.outcome()).isEqualTo(StoreException.Outcome.FATAL);
    }

    private static String with(String uri, String option) {
        return uri.contains("#") ? uri.replace("#", "&" + option + "#") : uri + "&" + option;
    }

    private static StoreException failure(String uri) {
        return catchThrowableOfType(StoreException.class, () -> new TestClient(uri).close());
    }

    private static String files() {
        return "ca=" + ca.ca() + "&cert=" + ca.certificate() + "&key=" + ca.key();
    }

    private static ServerTls tls() {
        return new ServerTls(ca.certificate(), ca.key(), ca.ca());
    }

    private static <T> T startOrAbort(Supplier<T> start) {
        try {
            RedisServer.builder().tls(tls()).start().close();
        } catch (IllegalStateException e) {
            abort("This Redis server was built without TLS: " + e.getMessage());
        }
        return start.get();
    }
}
