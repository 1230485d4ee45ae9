package io.holdfast.redis.failures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.redis.RedisStores;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.SocketAddressResolver;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An operator makes the replica the master and, a little later, the old master again. A client's commands follow; its
 * subscription stays where it was, as REPLICAOF ends no connection. The replica's clock is behind.
 */
@Tag("deep")
@Timeout(60)
class LeftSubscriptionFaultsTest {

    private static final Duration BEHIND = Duration.ofSeconds(10);
    private static final long POLL_MILLIS = 20_000;

    @TempDir
    Path dir;

    @ParameterizedTest
    @MethodSource("io.holdfast.testkit.servers.RedisServer#available")
    void a_grant_does_not_count_from_a_stamp_of_another_clock(Installation installation) throws Exception {
        ServerWallClock clock = ServerWallClock.compile(dir);
        BlockingQueue<PushedGrant> grants = new LinkedBlockingQueue<>();
        AtomicReference<RedisServer> master = new AtomicReference<>();
        ClientResources resources = ClientResources.builder()
                .socketAddressResolver(following(master))
                .build();
        try (RedisServer first =
                        RedisServer.builder().installation(installation).start();
                RedisServer second = clock.start(installation)) {
            master.set(first);
            replicate(second, first);
            try (LockStore waiting = open(first, "hf-waiting", resources, grants);
                    LockStore holding = open(first, "hf-holding", null, new LinkedBlockingQueue<>())) {
                assertThat(get(holding.acquire(AcquireRequest.once("n", "hf-holding:1", 60_000))))
                        .isInstanceOf(AcquireReply.Granted.class);
                clock.jump(BEHIND.negated());
                master.set(second);
                first.command("CLIENT", "KILL", "TYPE", "normal");
                await().until(() -> clients(second).contains("name=holdfast"));
                second.command("REPLICAOF", "NO", "ONE");
                replicate(first, second);

                long asked = System.nanoTime();
                assertThat(get(waiting.acquire(AcquireRequest.queueing("n", "hf-waiting:1", 60_000, POLL_MILLIS))))
                        .isInstanceOf(AcquireReply.Busy.class);
                await().until(() -> get(holding.inspect("n")).waiting() == 1);
                first.command("REPLICAOF", "NO", "ONE");
                assertThat(get(holding.release(ReleaseRequest.of("n", "hf-holding:1")))
                                .wasHeld())
                        .isTrue();
                PushedGrant grant = grants.poll(10, TimeUnit.SECONDS);
                long heard = System.nanoTime();

                assertThat(grant).as("the subscription stayed at the first").isNotNull();
                boolean used = grant.nonce() == 0 && grant.isOfOneClock(asked);
                System.out.println(installation + ": " + grant + (used ? " is used" : " is confirmed first"));
                if (used) {
                    assertThat(grant.sinceAskingMillis())
                            .as("from the asking to the grant")
                            .isLessThanOrEqualTo(TimeUnit.NANOSECONDS.toMillis(heard - asked));
                }
            }
        } finally {
            resources.shutdown(0, 1, TimeUnit.SECONDS).await(5, TimeUnit.SECONDS);
        }
    }

    private static LockStore open(
            RedisServer server, String id, @Nullable ClientResources resources, BlockingQueue<PushedGrant> grants) {
        RedisStores.Builder builder = RedisStores.standalone(RedisURI.create(server.uri()));
        if (resources != null) {
            builder.clientResources(resources);
        }
        LockStore store = builder.open(new StoreContext(id, TimeSource.system()));
        store.listen(new StoreListener() {
            @Override
            public void granted(String name, String holderId) {}

            @Override
            public void granted(PushedGrant grant) {
                grants.add(grant);
            }

            @Override
            public void contended(String name, String holderId) {}

            @Override
            public void released(String name) {}

            @Override
            public void reconnected() {}
        });
        return store;
    }

    private static SocketAddressResolver following(AtomicReference<RedisServer> master) {
        return new SocketAddressResolver() {
            @Override
            public SocketAddress resolve(RedisURI uri) {
                RedisServer now = Objects.requireNonNull(master.get());
                return new InetSocketAddress(now.host(), now.port());
            }
        };
    }

    private static void replicate(RedisServer replica, RedisServer master) {
        replica.command("REPLICAOF", master.host(), String.valueOf(master.port()));
        await().atMost(Duration.ofSeconds(30))
                .until(() -> String.valueOf(((List<?>) Objects.requireNonNull(replica.command("ROLE"))).get(3))
                        .equals("connected"));
    }

    private static String clients(RedisServer server) {
        return String.valueOf(server.command("CLIENT", "LIST", "TYPE", "normal"));
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(10, TimeUnit.SECONDS);
    }
}
