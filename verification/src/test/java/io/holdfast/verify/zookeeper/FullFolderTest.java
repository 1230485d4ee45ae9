package io.holdfast.verify.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.testkit.OverlapDetector;
import io.holdfast.zookeeper.VerifyZooKeeper;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A lock on a real server that has numbered nearly as many nodes of it as it can: after 2147483647 numbers repeat. */
@Timeout(120)
class FullFolderTest {

    private static final long LIMIT = VerifyZooKeeper.LIMIT;
    private static final String FOLDER = "/locks/a";

    private final List<LockClient> clients = new ArrayList<>();
    private LocalServer server;

    @BeforeEach
    void start(@TempDir Path dir) throws Exception {
        server = new LocalServer(dir);
    }

    @AfterEach
    void stop() {
        clients.forEach(LockClient::close);
        server.close();
    }

    /** Before there was a limit, 4 clients had 354 overlaps in 8 seconds, and 283 tokens went back. */
    @Tag("deep") // quick: the test of permits below
    @ParameterizedTest
    @ValueSource(longs = {LIMIT - 20, LIMIT, Integer.MAX_VALUE - 5, Integer.MAX_VALUE})
    void four_clients_exclude_each_other_before_and_after(long made) throws Exception {
        Lease first = client().acquire("a");
        OverlapDetector detector = new OverlapDetector("a");
        AtomicLong tokens = new AtomicLong(first.fencingToken());
        workUntilReplaced(FOLDER, made, 50, first::release, client -> {
            try (Lease lease = client.acquire("a")) {
                detector.enter(lease.fencingToken());
                assertThat(tokens.getAndSet(lease.fencingToken())).isLessThan(lease.fencingToken());
                detector.leave();
                return server.created(FOLDER);
            }
        });
        detector.assertClean();
    }

    @ParameterizedTest
    @ValueSource(longs = {LIMIT - 20, Integer.MAX_VALUE - 5})
    void permits_keep_their_limit_before_and_after(long made) throws Exception {
        String permitsFolder = "/locks/~pools/p:a";
        Lease first = client().permits("a", 2).acquire();
        AtomicInteger inside = new AtomicInteger(1);
        AtomicInteger most = new AtomicInteger();
        Runnable release = () -> {
            inside.decrementAndGet();
            first.release();
        };
        workUntilReplaced(permitsFolder, made, 30, release, client -> {
            try (Lease lease = client.permits("a", 2).acquire()) {
                lease.ensureValid();
                most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                try {
                    Thread.sleep(5); // long enough that two meet in thirty rounds
                } finally {
                    inside.decrementAndGet();
                }
                return server.created(permitsFolder);
            }
        });
        assertThat(most).hasValue(2);
    }

    /** Takes a name and gives it back. */
    private interface Round {
        /** Returns when the folder was created in which it was done. */
        long run(LockClient client) throws InterruptedException;
    }

    /**
     * Lets four clients work, from almost the last number of a folder on, until they have done so in the next one.
     *
     * @param made how many nodes the folder has had
     * @param rounds how many rounds are done in the next folder
     * @param release gives back what the test itself has
     */
    private void workUntilReplaced(String path, long made, int rounds, Runnable release, Round round) throws Exception {
        long folder = server.created(path);
        server.setMade(path, made);
        CountDownLatch inTheNext = new CountDownLatch(rounds);
        List<Thread> threads = new ArrayList<>();
        List<Throwable> errors = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            LockClient client = client();
            Thread thread = new Thread(() -> {
                while (inTheNext.getCount() > 0) {
                    try {
                        if (round.run(client) != folder) {
                            inTheNext.countDown();
                        }
                    } catch (InterruptedException e) {
                        return;
                    } catch (RuntimeException | AssertionError e) {
                        synchronized (errors) {
                            errors.add(e);
                        }
                        return;
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        Thread.sleep(300);
        release.run();
        boolean done = inTheNext.await(60, TimeUnit.SECONDS);
        for (Thread thread : threads) {
            thread.interrupt();
            thread.join(10_000);
        }
        assertThat(errors).isEmpty();
        assertThat(done).as("the folder was replaced").isTrue();
    }

    /** A holder that stays for days must not let its waiters use up what is left of the numbers. */
    @Test
    @Tag("deep") // quick: the test of permits above
    void waiters_make_no_node_in_a_full_folder() throws Exception {
        Lease first = client().acquire("a");
        server.setMade(FOLDER, LIMIT);
        LockClient second = client();
        CompletionStage<Lease> waiting = second.acquireAsync("a");
        Thread.sleep(300);
        ZooKeeper plain = plain();
        long before = made(plain);
        assertThat(before).isEqualTo(LIMIT + 1);
        for (int i = 0; i < 5; i++) {
            assertThat(second.tryAcquire("a", Duration.ZERO)).isEmpty();
        }
        Thread.sleep(2_500);
        assertThat(made(plain)).isEqualTo(before);
        assertThat(second.inspect("a").isLocked()).isTrue();
        first.release();
        waiting.toCompletableFuture().get(10, TimeUnit.SECONDS).release();
        plain.close();
    }

    @Test
    void a_node_of_a_stranger_keeps_the_folder_and_is_named() throws Exception {
        Lease first = client().acquire("a");
        server.setMade(FOLDER, LIMIT);
        ZooKeeper plain = plain();
        plain.create(FOLDER + "/note", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        Future<Lease> waiting = client().acquireAsync("a").toCompletableFuture();
        Thread.sleep(300);
        first.release();
        assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(LockStoreException.class)
                .hasMessageContaining("the servers have numbered more than 2146435072 nodes of the lock \"a\"")
                .hasMessageContaining("the node /locks/a/note is not Holdfast's (delete that node)");
        plain.delete(FOLDER + "/note", -1);
        clients.get(1).acquire("a").release();
        plain.close();
    }

    @Test
    @Tag("deep") // quick: the test above
    void a_login_that_may_not_delete_the_folder_is_told_so() throws Exception {
        Lease first = client().acquire("a");
        // The servers may remove the folder later, so a waiter reports the refusal only when its patience ends.
        LockClient second = client("?sessionTimeout=6s&timeout=2s");
        server.setMade(FOLDER, LIMIT);
        ZooKeeper plain = plain();
        // The right to delete a node belongs to its parent.
        Id anyone = ZooDefs.Ids.ANYONE_ID_UNSAFE;
        List<ACL> access = new ArrayList<>(List.of(new ACL(ZooDefs.Perms.ALL & ~ZooDefs.Perms.DELETE, anyone)));
        plain.setACL("/locks", access, -1);
        Future<Lease> waiting = second.acquireAsync("a").toCompletableFuture();
        Thread.sleep(300);
        first.release();
        assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
                .hasMessageContaining("may not delete it (grant the right to delete in /locks");
        plain.close();
    }

    private LockClient client() {
        return client("");
    }

    private LockClient client(String options) {
        LockClient client = LockClient.connect("zookeeper://" + server.address() + "/locks" + options);
        clients.add(client);
        return client;
    }

    private ZooKeeper plain() throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper plain = new ZooKeeper(server.address(), 20_000, event -> connected.countDown());
        assertThat(connected.await(20, TimeUnit.SECONDS)).isTrue();
        return plain;
    }

    private static long made(ZooKeeper plain) throws Exception {
        Stat stat = plain.exists(FOLDER, false);
        return Integer.toUnsignedLong(stat.getCversion() + stat.getNumChildren()) / 2;
    }
}
