package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockClient;
import io.holdfast.redis.lua.LuaLockStore;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.servers.RedisReplication;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Leases that are handed out only when replicas have the hold. */
class ReplicatedHoldsTest {

    private static RedisReplication servers;
    private static RedisServer master;

    @BeforeAll
    static void start() {
        servers = RedisReplication.builder().start();
        master = servers.master();
    }

    @AfterAll
    static void stop() {
        servers.close();
    }

    @Test
    void withoutTheOptionNobodyWaits() {
        try (TestClient a = new TestClient(master.uri());
                TestClient b = new TestClient(master.uri())) {
            long before = waits();
            String held = a.hold("off");
            String waiting = b.queue("off");
            a.releaseAndRequeue("off", held, a.newHolder());
            b.await("granted off " + waiting, 5_000);
            b.acquire("off", waiting, 30_000, true);
            b.release("off", waiting);
            assertThat(waits() - before).isZero();
        }
    }

    /** One WAIT serves all acquires that came while another WAIT was under way. */
    @Test
    void aGroupWaitsOnce() {
        try (TestClient a = new TestClient(master.uri() + "?minReplicas=2")) {
            long before = waits();
            List<CompletionStage<AcquireReply>> replies = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                replies.add(a.store.acquire(a.request("group:" + i, a.newHolder(), 30_000, true)));
            }
            replies.forEach(reply -> assertThat(TestClient.get(reply)).isInstanceOf(Granted.class));
            assertThat(waits() - before).isBetween(1L, 60L);
            for (RedisServer replica : servers.replicas()) {
                assertThat(replica.command("EXISTS", "group:99")).isEqualTo(1L);
            }
        }
    }

    /** A grant that somebody else's release made counts when it is confirmed, and then replicas have it. */
    @Test
    void aPushedGrantIsConfirmedByReplicas() {
        try (TestClient a = new TestClient(master.uri());
                TestClient b = new TestClient(master.uri() + "?minReplicas=1&timeout=3s")) {
            String held = a.hold("pushed");
            String waiting = b.queue("pushed");
            servers.cutReplication(true);
            a.release("pushed", held);
            b.await("granted pushed " + waiting, 5_000);
            StoreException short1 = TestClient.failure(b.store.acquire(b.request("pushed", waiting, 30_000, true)));
            assertThat(short1.getMessage()).contains("only 0 of 1 replicas confirmed it within 1.5 s");
            assertThat(short1.outcome()).isEqualTo(StoreException.Outcome.NOT_EXECUTED);
            assertThat(a.inspect("pushed").holder()).isNull();
        } finally {
            servers.cutReplication(false);
        }
    }

    /** The repetition of an acquire that holds already must not be taken for confirmed: nothing new was written. */
    @Test
    void aRepetitionOnANewConnectionWaitsToo() {
        String uri = master.uri() + "?minReplicas=1&timeout=3s";
        try (TestClient a = new TestClient(uri);
                TestClient b = new TestClient(uri)) {
            String holder = a.newHolder();
            assertThat(a.acquire("again", holder, 30_000, false)).isInstanceOf(Granted.class);
            servers.cutReplication(true);
            // Shorter than what it has, so it lengthens nothing; and B's connection has written nothing yet.
            assertThat(TestClient.failure(b.store.acquire(b.request("again", holder, 1_000, false)))
                            .getMessage())
                    .contains("only 0 of 1 replicas confirmed");
        } finally {
            servers.cutReplication(false);
        }
    }

    /** What the server refuses is one acquisition's affair, not that of the others in its group. */
    @Test
    void aRefusedAcquisitionHarmsNoOthers() {
        master.command("ACL", "SETUSER", "group", "on", ">pw", "~app:*", "~holdfast:*", "&*", "+@all");
        String uri = master.uri().replace("redis://", "redis://group:pw@") + "?minReplicas=1&clientName=group";
        try (TestClient a = new TestClient(uri)) {
            long before = connections("group");
            List<CompletionStage<AcquireReply>> allowed = new ArrayList<>();
            List<CompletionStage<AcquireReply>> refused = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                allowed.add(a.store.acquire(a.request("app:" + i, a.newHolder(), 30_000, true)));
                refused.add(a.store.acquire(a.request("other:" + i, a.newHolder(), 30_000, true)));
            }
            allowed.forEach(reply -> assertThat(TestClient.get(reply)).isInstanceOf(Granted.class));
            refused.forEach(
                    reply -> assertThat(TestClient.failure(reply).getMessage()).contains("NOPERM"));
            // One for all of them, made by the first.
            assertThat(connections("group")).isEqualTo(before + 1);
        }
    }

    /** Acquisitions wait for each other on a connection of their own, and withdrawals do not wait for them. */
    @Test
    void anAcquireThatItsWithdrawalOvertakesLeavesNothing() {
        master.command("HSET", "overtaken", "4a0e1b1e-0000-0000-0000-000000000000:1", "1");
        master.command("PEXPIRE", "overtaken", "30000");
        try (TestClient other = new TestClient(master.uri())) {
            AtomicReference<LuaLockStore> store = new AtomicReference<>();
            LockClient client = TestClient.connect(master.uri() + "?minReplicas=1&timeout=1s", store);
            client.inspect("overtaken");
            servers.cutReplication(true);
            var slow = client.tryAcquireAsync("slow").toCompletableFuture();
            await().until(() -> master.command("EXISTS", "slow").equals(1L));
            client.acquireAsync("overtaken").toCompletableFuture().cancel(false);
            // It is sent behind that acquire, so it is answered after it.
            var last = client.tryAcquireAsync("last").toCompletableFuture();
            assertThat(slow).failsWithin(Duration.ofSeconds(20));
            assertThat(last).failsWithin(Duration.ofSeconds(20));
            TestClient.closeInTime(client);
            assertThat(other.inspect("overtaken").waiting()).isZero();
            assertThat(store.get().messages().redisson().size()).isZero();
        } finally {
            servers.cutReplication(false);
            master.command("DEL", "overtaken");
        }
    }

    /** Nothing is sent on that connection while nobody acquires, so it is closed like a dead one. */
    @Test
    @Tag("deep") // quick: RedisFaultTest.aSilentConnectionIsReplaced
    void anIdleConnectionIsReplaced() {
        try (TestClient a = new TestClient(master.uri() + "?minReplicas=1&timeout=2500ms&clientName=idle")) {
            long before = connections("idle");
            a.release("idle", a.hold("idle"));
            assertThat(connections("idle")).isEqualTo(before + 1);
            await().atMost(Duration.ofSeconds(20)).until(() -> connections("idle") == before);
            a.release("idle", a.hold("idle"));
        }
    }

    /** Of one client only: those of the tests before may still be closing, and those of replicas come and go. */
    private static long connections(String clientName) {
        return String.valueOf(master.command("CLIENT", "LIST"))
                .lines()
                .filter(line -> line.contains(" name=" + clientName + " "))
                .count();
    }

    @Test
    void busyIsAnsweredWithoutWaiting() {
        try (TestClient a = new TestClient(master.uri() + "?minReplicas=2");
                TestClient b = new TestClient(master.uri() + "?minReplicas=2")) {
            String held = a.hold("busy");
            long before = waits();
            assertThat(b.acquire("busy", b.newHolder(), 30_000, true)).isInstanceOf(Busy.class);
            assertThat(waits() - before).isZero();
            a.release("busy", held);
        }
    }

    private static long waits() {
        return master.commandCounts().getOrDefault("wait", 0L);
    }
}
