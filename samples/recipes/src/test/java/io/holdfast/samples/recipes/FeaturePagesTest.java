package io.holdfast.samples.recipes;

import static java.time.Duration.ofSeconds;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.CardDetail;
import io.holdfast.DistributedLock;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockState;
import io.holdfast.Permits;
import io.holdfast.Term;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.memory.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Runs the code of README and of the pages of permits, leaders, readers, cards and the memory store without a server. */
@SuppressWarnings("try") // leases that only have to be held
class FeaturePagesTest {

    private record Batch(int number) {}

    private final LockClient locks = LockClient.connect("memory:" + UUID.randomUUID());
    private final Queue<String> done = new ConcurrentLinkedQueue<>();

    @AfterEach
    void close() {
        locks.close();
    }

    @Test
    void without_spring() throws Exception {
        Stock stock = new Stock();
        Optional<Lease> lease = locks.tryAcquire("report", ofSeconds(10));
        CompletionStage<Lease> stage = locks.acquireAsync("invoice");
        boolean ran = locks.tryRun("nightly", held -> nightly());

        // Ends after a minute at the latest.
        Lease bounded = locks.acquire("export", LockOptions.defaults().leaseFor(ofSeconds(60)));

        DistributedLock lock = locks.getLock("inventory");
        lock.lock();
        try {
            stock.decrement();
        } finally {
            lock.unlock();
        }
        assertThat(lease).get().matches(Lease::isValid);
        assertThat(stage.toCompletableFuture().get(10, SECONDS).isValid()).isTrue();
        assertThat(ran).isTrue();
        assertThat(bounded.isValid()).isTrue();
        assertThat(done).containsExactly("nightly", "sold");
    }

    @Test
    void permits() throws InterruptedException {
        String report = "report";
        String largeReport = "large report";
        Permits exports = locks.permits("export", 5);

        try (Lease permit = exports.acquire()) {
            export(report);
        }
        try (Lease permits = exports.weight(3).acquire()) {
            export(largeReport);
        }
        assertThat(done).containsExactly("report", "large report");
    }

    @Test
    void a_leader_is_told_when_to_start_and_to_stop() {
        Scheduler scheduler = new Scheduler();
        Leadership leadership = locks.leadership("billing", new LeadershipListener() {
            @Override
            public void onElected(Term term) {
                scheduler.start(term.fencingToken());
            }

            @Override
            public void onRevoked(Term term) {
                scheduler.stop();
            }
        });
        await().until(() -> done.contains("started"));
        leadership.close();
        assertThat(done).containsExactly("started", "stopped");
    }

    @Test
    void a_leader_works_until_it_is_interrupted() throws InterruptedException {
        CountDownLatch interrupted = new CountDownLatch(1);
        Outbox outbox = new Outbox(interrupted);
        Broker broker = new Broker();
        Leadership leadership = locks.leadership("outbox", term -> {
            while (true) {
                Batch batch = outbox.next();
                term.ensureValid();
                broker.send(batch, term.fencingToken());
            }
        });
        await().until(() -> done.contains("sent"));
        leadership.close();
        assertThat(interrupted.await(10, SECONDS)).isTrue();
    }

    @Test
    void readers_and_writers() throws InterruptedException {
        Prices prices = new Prices();
        List<String> loaded = List.of("price");
        DistributedReadWriteLock catalog = locks.getReadWriteLock("catalog");
        catalog.writeLock().lock();
        try {
            prices.replace(loaded);
        } finally {
            catalog.writeLock().unlock();
        }
        try (Lease read = locks.acquireRead("catalog")) {
            show(prices);
        }
        assertThat(done).containsExactly("price");
    }

    @Test
    void a_client_shows_who_holds() throws InterruptedException {
        String uri = "memory:" + UUID.randomUUID();
        try (LockClient holder =
                        LockClient.builder().uri(uri).clientName("shop").build();
                Lease lease = holder.acquire("order:refund:12345")) {
            LockClient locks = LockClient.builder()
                    .uri(uri)
                    .clientName("billing")
                    .cards(CardDetail.NAMES)
                    .build();

            LockState state = locks.inspect("order:refund:12345");
            state.holderTitle().ifPresent(System.out::println);
            assertThat(state.holderTitle()).get().asString().startsWith("shop@");
            assertThat(locks.cards()).anyMatch(card -> card.application().equals("billing"));
            locks.close();
        }
    }

    @Test
    void forty_seconds_at_once() {
        VirtualTime time = new VirtualTime();
        MemoryLockStore.Server server = new MemoryLockStore.Server(time);
        LockClient one =
                LockClient.builder().store(server::connect).timeSource(time).build();
        time.advance(Duration.ofSeconds(40));
        Lease renewed = one.acquireAsync("renewed").toCompletableFuture().join();
        time.advance(Duration.ofSeconds(40));
        assertThat(renewed.isValid()).isTrue();
        one.close();
    }

    private boolean nightly() {
        return done.add("nightly");
    }

    private void export(String report) {
        done.add(report);
    }

    private void show(Prices prices) {
        done.addAll(prices.all);
    }

    private final class Stock {

        void decrement() {
            done.add("sold");
        }
    }

    private final class Scheduler {

        void start(long token) {
            assertThat(token).isPositive();
            done.add("started");
        }

        void stop() {
            done.add("stopped");
        }
    }

    private static final class Outbox {

        private final CountDownLatch interrupted;
        private int number;

        Outbox(CountDownLatch interrupted) {
            this.interrupted = interrupted;
        }

        Batch next() throws InterruptedException {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                interrupted.countDown();
                throw e;
            }
            return new Batch(number++);
        }
    }

    private final class Broker {

        void send(Batch batch, long token) {
            assertThat(token).isPositive();
            if (batch.number() == 0) {
                done.add("sent");
            }
        }
    }

    private static final class Prices {

        private List<String> all = List.of();

        void replace(List<String> loaded) {
            all = loaded;
        }
    }
}
