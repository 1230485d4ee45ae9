package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.RespClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DnsResolvers;
import io.lettuce.core.resource.SocketAddressResolver;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections that die in silence while a waiter waits, as behind a firewall that has forgotten them. */
@Timeout(60)
class DeadConnectionTest {

    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands"})
    void the_store_tells_how_long_it_takes_to_notice_one(String mode) {
        try (RedisServer server = RedisServer.start()) {
            try (TestClient usual = new TestClient(server.uri() + "?mode=" + mode)) {
                assertThat(usual.store.recovery()).isEqualTo(Duration.ofSeconds(12));
            }
            try (TestClient quick = new TestClient(server.uri() + "?mode=" + mode + "&timeout=500ms")) {
                assertThat(quick.store.recovery()).isEqualTo(Duration.ofMillis(2_500));
            }
        }
    }

    @Tag("deep")
    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands"})
    void a_waiter_waits_until_it_is_noticed(String mode) throws Exception {
        try (RedisServer server = RedisServer.start();
                FaultProxy proxy = FaultProxy.to(server.host(), server.port());
                LockClient waiting = LockClient.connect(proxy.uri() + "?mode=" + mode);
                LockClient near = LockClient.connect(server.uri() + "?mode=" + mode)) {
            Lease held = near.acquire("n");
            CompletableFuture<Lease> wait = waiting.acquireAsync(
                            "n", LockOptions.defaults().waitAtMost(Duration.ofSeconds(40)))
                    .toCompletableFuture();
            Thread.sleep(1_000);
            proxy.forgetAll();
            Thread.sleep(8_000);
            assertThatCode(() -> wait.getNow(null)).doesNotThrowAnyException();
            held.release();
            wait.get(20, TimeUnit.SECONDS).release();
        }
    }

    /**
     * A host that hangs still accepts connections. The name leads to another server soon, or to both in turn: then the
     * first new connection may end at the host that hangs.
     *
     * @param inTurn whether the name leads to both
     */
    @Tag("deep")
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_waiter_outlasts_a_host_that_hangs_behind_a_name(boolean inTurn) throws Exception {
        try (RedisServer first = RedisServer.start();
                RedisServer second = RedisServer.start()) {
            NameServer names = new NameServer(first, second, inTurn);
            ClientResources resolving =
                    ClientResources.builder().socketAddressResolver(names).build();
            try (RespClient admin = RespClient.connect(first.host(), first.port(), Duration.ofSeconds(5));
                    LockClient waiting = LockClient.builder()
                            .store(RedisStores.standalone(RedisURI.create("locks.example", 6379))
                                    .settingsOf(resolving)::open)
                            .build()) {
                admin.call("SET", "lock:n", "somebody", "PX", "60000");
                CompletableFuture<Lease> wait = waiting.acquireAsync(
                                "n", LockOptions.defaults().waitAtMost(Duration.ofSeconds(20)))
                        .toCompletableFuture();
                Thread.sleep(1_000);
                first.pause();
                names.moved.set(true);
                wait.get(25, TimeUnit.SECONDS).release();
            } finally {
                first.resume();
                resolving.shutdown(0, 1, TimeUnit.SECONDS).get(10, TimeUnit.SECONDS);
            }
        }
    }

    /** Resolves the one name to a server: the second one since the name was moved, or both in turn. */
    private static final class NameServer extends SocketAddressResolver {

        private final RedisServer first;
        private final RedisServer second;
        private final boolean inTurn;
        private final AtomicBoolean moved = new AtomicBoolean();
        private final AtomicInteger asked = new AtomicInteger();

        NameServer(RedisServer first, RedisServer second, boolean inTurn) {
            super(DnsResolvers.UNRESOLVED);
            this.first = first;
            this.second = second;
            this.inTurn = inTurn;
        }

        @Override
        public SocketAddress resolve(RedisURI uri) {
            boolean toFirst = !moved.get() || (inTurn && asked.getAndIncrement() / 2 % 2 == 0);
            RedisServer server = toFirst ? first : second;
            return new InetSocketAddress(server.host(), server.port());
        }
    }
}
