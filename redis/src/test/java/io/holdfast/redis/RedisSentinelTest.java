package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.RedisReplication;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.RespClient;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One master, two replicas, three Sentinels: commands and messages follow the master. */
class RedisSentinelTest {

    private RedisReplication servers;
    private TestClient a;
    private TestClient b;

    @BeforeEach
    void start() {
        servers = RedisReplication.builder().sentinels().start();
        a = new TestClient(servers.sentinelUri().replace("#", "?timeout=3s#"));
        b = new TestClient(servers.sentinelUri().replace("#", "?timeout=3s#"));
    }

    @AfterEach
    void stop() {
        a.close();
        b.close();
        servers.close();
    }

    /** The hold was replicated: it is there on the new master, and its waiter receives its release. */
    @Test
    void aKilledMasterIsReplaced() {
        String held = a.hold("n");
        String waiting = b.queue("n");
        Granted before = (Granted) a.acquire("n", held, 30_000, false);
        servers.awaitInStep();
        RedisServer first = servers.master();
        first.kill();
        servers.awaitMasterOtherThan(first);

        b.await("reconnected", 15_000);
        Granted after = (Granted) eventually(a, "n", held);
        assertThat(after.base()).isEqualTo(before.base());
        assertThat(eventually(b, "n", waiting)).isInstanceOf(Busy.class);
        assertThat(a.release("n", held)).isTrue();
        // B's messages may be back later than its commands; then its poll finds the lock.
        assertThat(polledUntilGranted(b, "n", waiting).base()).isGreaterThan(before.base());
        b.release("n", waiting);
    }

    /** Nothing ends the connections to a master that hangs, but the announcement of the new one. */
    @Test
    @Tag("deep")
    void aHangingMasterIsReplaced() {
        String held = a.hold("n");
        servers.awaitInStep();
        RedisServer first = servers.master();
        first.pause();
        try {
            servers.awaitMasterOtherThan(first);
            assertThat(eventually(a, "n", held)).isInstanceOf(Granted.class);
            b.await("reconnected", 15_000);
            String waiting = b.newHolder();
            assertThat(eventually(b, "n", waiting)).isInstanceOf(Busy.class);
            // The connections may be replaced once more: until the release is answered, it is sent again.
            await().atMost(Duration.ofSeconds(20))
                    .ignoreException(StoreException.class)
                    .until(() -> {
                        a.release("n", held);
                        return true;
                    });
            assertThat(polledUntilGranted(b, "n", waiting)).isNotNull();
        } finally {
            first.resume();
        }
    }

    /** Demoted behind everybody's back, with no connection cut: the refusal tells. */
    @Test
    @Tag("deep") // quick: SickServerFaultsTest.demotedAndPromoted
    void aDemotedMasterIsLeft() {
        String held = a.hold("n");
        servers.awaitInStep();
        RedisServer first = servers.master();
        RedisServer next = servers.failover();
        assertThat(next).isNotSameAs(first);
        assertThat(eventually(a, "n", held)).isInstanceOf(Granted.class);
        // Also after what scripts the new master knows are gone.
        next.command("SCRIPT", "FLUSH");
        assertThat(a.renew("n", held, 30_000)).isInstanceOf(RenewReply.Renewed.class);
        assertThat(next.command("HEXISTS", "n", held)).isEqualTo(1L);
        assertThat(a.release("n", held)).isTrue();
    }

    /** Sentinels close connections whenever they give a server another role. */
    @Test
    @Tag("deep") // quick: RedisOpeningTest
    void anOpeningThatIsCutOffIsTriedAgain() {
        RedisServer sentinel = servers.sentinels().get(0);
        try (FaultProxy proxy = FaultProxy.to("127.0.0.1", sentinel.port())) {
            proxy.refuse(true);
            CompletableFuture<Void> back = CompletableFuture.runAsync(
                    () -> proxy.refuse(false), CompletableFuture.delayedExecutor(500, TimeUnit.MILLISECONDS));
            String uri = servers.sentinelUri("127.0.0.1:" + proxy.port()).replace("#", "?timeout=10s#");
            try (TestClient late = new TestClient(uri)) {
                assertThat(late.release("n", late.hold("n"))).isTrue();
            }
            assertThat(back).succeedsWithin(Duration.ofSeconds(5));
        }
    }

    /** As where Sentinels announce addresses of a network of their own. */
    @Test
    @Tag("deep") // quick: aLoginThatASentinelRefusesIsNamed
    void aMasterThatCannotBeReachedIsNamedWithWhoAnnouncedIt() throws Exception {
        RedisServer sentinel = servers.sentinels().get(0);
        int dead;
        try (ServerSocket free = new ServerSocket(0)) {
            dead = free.getLocalPort();
        }
        try (RespClient admin = RespClient.connect(sentinel.host(), sentinel.port(), Duration.ofSeconds(5))) {
            admin.call("SENTINEL", "MONITOR", "elsewhere", "127.0.0.1", "" + dead, "2");
            String uri = "redis-sentinel://" + sentinel.host() + ":" + sentinel.port() + "?timeout=2s#elsewhere";
            assertThat(opening(uri).getMessage())
                    .startsWith("127.0.0.1:" + dead + ", the master that the Sentinels of redis-sentinel://"
                            + sentinel.host() + ":" + sentinel.port() + "/0#elsewhere announced, cannot be reached: ")
                    .endsWith("(start that server, or let the Sentinels announce an address that this client can"
                            + " reach)");
            admin.call("SENTINEL", "REMOVE", "elsewhere");
        }
    }

    /** Nothing is wrong with the login at the configured addresses. */
    @Test
    @Tag("deep") // quick: aLoginThatASentinelRefusesIsNamed
    void aLoginThatAnAnnouncedMasterRefusesIsNamedWithItsAddress() throws Exception {
        RedisServer sentinel = servers.sentinels().get(0);
        try (RedisServer closed =
                        RedisServer.builder().args("--requirepass", "pw").start();
                RespClient admin = RespClient.connect(sentinel.host(), sentinel.port(), Duration.ofSeconds(5))) {
            admin.call("SENTINEL", "MONITOR", "closed", closed.host(), "" + closed.port(), "2");
            String uri = "redis-sentinel://" + sentinel.host() + ":" + sentinel.port() + "?timeout=5s#closed";
            assertThat(opening(uri).getMessage())
                    .startsWith(closed.host() + ":" + closed.port()
                            + ", the master that the Sentinels of redis-sentinel://" + sentinel.host() + ":"
                            + sentinel.port() + "/0#closed announced, needs a password (");
            admin.call("SENTINEL", "REMOVE", "closed");
        }
    }

    /** The login that the Sentinels refuse is not that of the servers. */
    @Test
    void aLoginThatASentinelRefusesIsNamed() throws Exception {
        RedisServer sentinel = servers.sentinels().get(0);
        try (RespClient admin = RespClient.connect(sentinel.host(), sentinel.port(), Duration.ofSeconds(5))) {
            admin.call("ACL", "SETUSER", "default", "resetpass", ">s3ntinel");
            String uri =
                    servers.sentinelUri(sentinel.host() + ":" + sentinel.port()).replace("://", "://app:s3rver@");
            assertThat(opening(uri.replace("#", "?timeout=2s#")).getMessage())
                    .startsWith("The Sentinels of redis-sentinel://")
                    .contains("need a login of their own (put it into the URI: ?sentinelPassword=");
            assertThat(opening(uri.replace("#", "?timeout=2s&sentinelPassword=wr0ng#"))
                            .getMessage())
                    .startsWith("A Sentinel of redis-sentinel://")
                    .endsWith("refused its login (correct sentinelUser and sentinelPassword in the URI)");
            admin.call("ACL", "SETUSER", "watch", "on", ">pw", "&*", "+ping", "+client");
            assertThat(opening(uri.replace("#", "?timeout=2s&sentinelUser=watch&sentinelPassword=pw#"))
                            .getMessage())
                    .startsWith("A Sentinel of redis-sentinel://")
                    .contains("refused: NOPERM");
        }
    }

    @Test
    @Tag("deep") // quick: aLoginThatASentinelRefusesIsNamed
    void aMasterThatTheSentinelsDoNotKnowIsNamed() {
        assertThat(opening(servers.sentinelUri().replaceFirst("#.*", "?timeout=2s#nosuch"))
                        .getMessage())
                .startsWith("The Sentinels of redis-sentinel://")
                .endsWith(
                        "know no master called nosuch (put the name from their configuration after the # in the URI)");
    }

    private static StoreException opening(String uri) {
        return catchThrowableOfType(StoreException.class, () -> new TestClient(uri).close());
    }

    /** As the engine does it that waits. */
    static Granted polledUntilGranted(TestClient client, String name, String holder) {
        AtomicReference<AcquireReply> reply = new AtomicReference<>();
        await().atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(100))
                .until(() -> {
                    reply.set(eventually(client, name, holder));
                    return reply.get() instanceof Granted;
                });
        return (Granted) reply.get();
    }

    /** Asked again until the store answers; each failure must be one that may pass. */
    static AcquireReply eventually(TestClient client, String name, String holder) {
        AtomicReference<AcquireReply> reply = new AtomicReference<>();
        await().atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(50))
                .until(() -> {
                    try {
                        reply.set(TestClient.get(client.store.acquire(client.request(name, holder, 30_000, true))));
                        return true;
                    } catch (StoreException e) {
                        assertThat(e.outcome()).as(e.getMessage()).isNotEqualTo(StoreException.Outcome.FATAL);
                        return false;
                    }
                });
        return reply.get();
    }
}
