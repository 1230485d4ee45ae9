package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.CardDetail;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.Permits;
import io.holdfast.testkit.OverlapDetector;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The number of requests that a server receives, by its own count. */
@Timeout(120)
class RequestCountTest extends WithServer {

    /** Create, list; watch; list; delete. The second list only behind more than one node. */
    private static final double CONTENDED = 5;

    /** Cards add nothing to the number. The first ones look, too. */
    @ParameterizedTest
    @EnumSource(CardDetail.class)
    void a_free_lock_that_one_client_uses_takes_a_create_and_a_delete(CardDetail cards) throws Exception {
        LockClient client = client(cards);
        String name = "alone-" + cards;
        for (int i = 0; i < 5; i++) {
            client.acquire(name).release();
        }
        long before = received();
        for (int i = 0; i < 50; i++) {
            client.acquire(name).release();
        }
        double each = (received() - before) / 50.0;
        System.out.printf("a free lock: %.2f requests%n", each);
        assertThat(each).isBetween(1.9, 2.7);
    }

    @Test
    void a_free_lock_that_two_clients_use_in_turn_takes_one_look_more() throws Exception {
        LockClient one = client(CardDetail.OFF);
        LockClient two = client(CardDetail.OFF);
        long before = received();
        for (int i = 0; i < 25; i++) {
            one.acquire("in-turn").release();
            two.acquire("in-turn").release();
        }
        assertThat((received() - before) / 50.0).isBetween(2.9, 3.7);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4, 8})
    void a_lock_that_many_want_takes_the_same_number_however_many(int size) throws Exception {
        String name = "wanted-by-" + size;
        OverlapDetector detector = new OverlapDetector(name);
        Cost cost = costOfGrants(size, 30, (client, grants) -> {
            try (Lease lease = client.acquire(name)) {
                detector.enter(lease.fencingToken());
                int number = grants.incrementAndGet();
                detector.leave();
                return number;
            }
        });
        detector.assertClean();
        System.out.printf("one lock, %d clients: %.1f requests for each grant%n", size, cost.requests());
        // Each waiter looks once a second, which counts on a slow machine; some holds last for so long there that their
        // holder looks, and some predecessors have gone before they are watched. A herd of 8 would ask 13 times.
        assertThat(cost.requests()).isBetween(3.0, CONTENDED + 2 + cost.polls());
    }

    /**
     * The grant rests on the create, so nothing was written to the node. On a slow machine one in five has waited long.
     */
    @Test
    void a_waiter_that_has_not_waited_long_writes_nothing() throws Exception {
        LockClient first = client(CardDetail.OFF);
        LockClient second = client(CardDetail.OFF);
        Folder folder = Folder.of("/counted", "soon");
        Set<Integer> writes = new HashSet<>();
        ZooKeeper look = new ZooKeeper(servers.servers(), 10_000, event -> {});
        try {
            for (int i = 0; i < 5; i++) {
                Lease held = first.acquire("soon");
                CompletableFuture<Lease> waits = second.acquireAsync("soon").toCompletableFuture();
                await().until(() -> look.getChildren(folder.path(), false).size() == 2);
                held.release();
                try (Lease granted = waits.get(20, TimeUnit.SECONDS)) {
                    granted.ensureValid();
                    List<String> nodes = look.getChildren(folder.path(), false);
                    writes.add(look.exists(folder.path(nodes.get(0)), false).getVersion());
                }
            }
        } finally {
            look.close();
        }
        assertThat(writes).contains(0);
    }

    @Test
    void a_free_permit_takes_as_many_as_a_free_lock() throws Exception {
        Permits permits = client(CardDetail.OFF).permits("alone", 5);
        for (int i = 0; i < 5; i++) {
            permits.acquire().release();
        }
        long before = received();
        for (int i = 0; i < 50; i++) {
            permits.acquire().release();
        }
        double each = (received() - before) / 50.0;
        System.out.printf("a free permit: %.1f requests%n", each);
        assertThat(each).isBetween(1.9, 2.8);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 8})
    void writers_take_the_same_number_however_many(int size) throws Exception {
        String name = "written-by-" + size;
        OverlapDetector detector = new OverlapDetector(name);
        Cost cost = costOfGrants(size, 30, (client, grants) -> {
            try (Lease lease = client.acquireWrite(name)) {
                detector.enter(lease.fencingToken());
                int number = grants.incrementAndGet();
                detector.leave();
                return number;
            }
        });
        detector.assertClean();
        System.out.printf("writers, %d clients: %.1f requests for each grant%n", size, cost.requests());
        assertThat(cost.requests()).isBetween(3.0, CONTENDED + 2 + cost.polls());
    }

    /** Two permits, and more clients that all want one. */
    @Tag("deep") // quick: the test of the lock above
    @ParameterizedTest
    @ValueSource(ints = {4, 10})
    void permits_that_many_want_take_the_same_number_however_many(int size) throws Exception {
        Cost cost = costOfGrants(size, 60, (client, grants) -> {
            try (Lease lease = client.permits("wanted-by-" + size, 2).acquire()) {
                int number = grants.incrementAndGet();
                lease.ensureValid();
                Thread.sleep(2);
                return number;
            }
        });
        System.out.printf("2 permits, %d clients: %.1f requests for each permit%n", size, cost.requests());
        // A slow machine as above. If all of 8 waiters looked at each release and at each that begins to wait, there
        // would be 16 more.
        assertThat(cost.requests()).isBetween(4.0, 12 + cost.polls());
    }

    /** Acquires, counts the grant, and releases. */
    private interface Turn {
        /** Returns the number of the grant. */
        int take(LockClient client, AtomicInteger grants) throws InterruptedException;
    }

    /**
     * What a grant has cost.
     *
     * @param requests that the server received for each
     * @param polls what the waiters may have asked besides, as each looks once a second
     */
    private record Cost(double requests, double polls) {}

    /** Lets so many clients compete, and returns what a grant costs once all of them are at it. */
    private Cost costOfGrants(int size, int seconds, Turn turn) throws Exception {
        int warmUp = 5 * size;
        int counted = 150;
        AtomicInteger grants = new AtomicInteger();
        CountDownLatch warm = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (LockClient client : clients(size)) {
            Thread thread = new Thread(() -> {
                while (done.getCount() > 0) {
                    try {
                        int number = turn.take(client, grants);
                        if (number == warmUp) {
                            warm.countDown();
                        } else if (number == warmUp + counted) {
                            done.countDown();
                        }
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        assertThat(warm.await(20, TimeUnit.SECONDS)).isTrue();
        long before = received();
        int from = grants.get();
        long began = System.nanoTime();
        assertThat(done.await(seconds, TimeUnit.SECONDS)).isTrue();
        int served = grants.get() - from;
        double requests = (received() - before) / (double) served;
        double took = (System.nanoTime() - began) / 1e9;
        for (Thread thread : threads) {
            thread.join(10_000);
        }
        return new Cost(requests, 2 * size * took / served);
    }

    /** Waiters sleep. If each of the seven asked once a second, there would be seven requests a second. */
    @Test
    void waiters_cost_nothing_while_they_wait() throws Exception {
        List<LockClient> all = clients(8);
        Lease lease = all.get(0).acquire("kept");
        List<CompletableFuture<Void>> served = all.subList(1, 8).stream()
                .map(client ->
                        client.acquireAsync("kept").thenAccept(Lease::release).toCompletableFuture())
                .toList();
        await().until(() -> all.get(0).inspect("kept").waitingClients() == 7);
        Thread.sleep(200);
        long before = received();
        long began = System.nanoTime();
        Thread.sleep(3_500);
        long packets = received() - before;
        double seconds = (System.nanoTime() - began) / 1e9;
        assertThat(packets / seconds).isLessThan(4);
        lease.release();
        CompletableFuture.allOf(served.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
    }

    private List<LockClient> clients(int count) {
        IntStream.range(0, count).forEach(i -> client(CardDetail.OFF));
        return clients;
    }

    private LockClient client(CardDetail cards) {
        return open("/counted?sessionTimeout=60s", cards);
    }

    /** Includes a few pings and the requests for this number. */
    private long received() {
        return servers.count(0, "zk_packets_received");
    }
}
