package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.engine.ForwardingStore;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RecordStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Work that is done once, with its result in the store of the locks. */
@Timeout(60)
class StoreOnceTest {

    private final MemoryLockStore.Server server = new MemoryLockStore.Server(TimeSource.system());
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger failures = new AtomicInteger();
    private StoreException failure = new StoreException(StoreException.Outcome.UNKNOWN, "store: away", null);
    private boolean hasRecords = true;
    private boolean executesFailed;

    private final LockClient one = open(Duration.ofSeconds(5));
    private final LockClient two = open(Duration.ofSeconds(5));

    @AfterEach
    void close() {
        one.close();
        two.close();
    }

    private LockClient open(Duration storeTimeout) {
        return LockClient.builder()
                .store(context -> new Failing(server.connect(context)))
                .storeTimeout(storeTimeout)
                .build();
    }

    /** Fails as many writes of records as the test says. */
    private final class Failing extends ForwardingStore {

        private final LockStore store;

        Failing(LockStore store) {
            super(store);
            this.store = store;
        }

        @Override
        public Optional<LockStore> pools() {
            return store.pools();
        }

        @Override
        public Optional<RecordStore> records() {
            return store.records().filter(records -> hasRecords).map(records -> new RecordStore() {
                @Override
                public CompletionStage<Optional<String>> find(String name) {
                    return records.find(name);
                }

                @Override
                public CompletionStage<Boolean> keep(String name, String holder, String text, Duration keepFor) {
                    if (failures.getAndUpdate(left -> Math.max(0, left - 1)) == 0) {
                        return records.keep(name, holder, text, keepFor);
                    }
                    if (executesFailed) {
                        var unused = records.keep(name, holder, text, keepFor);
                    }
                    return CompletableFuture.failedFuture(failure);
                }
            });
        }
    }

    private String work(Lease lease) {
        assertThat(lease.isValid()).isTrue();
        return "receipt " + done.incrementAndGet();
    }

    @Test
    void the_work_is_done_once_and_every_client_gets_its_result() throws Exception {
        assertThat(one.once().run("payment:1", "7 €", this::work)).isEqualTo("receipt 1");
        assertThat(one.once().run("payment:1", "7 €", this::work)).isEqualTo("receipt 1");
        assertThat(two.once().run("payment:1", "7 €", this::work)).isEqualTo("receipt 1");
        assertThat(two.once().run("payment:2", "7 €", this::work)).isEqualTo("receipt 2");
        assertThat(one.inspect("payment:1").isLocked()).isFalse();
    }

    @Test
    void a_result_may_be_null_or_empty() throws Exception {
        for (int i = 0; i < 2; i++) {
            assertThat(one.once().run("a", "", lease -> done.incrementAndGet() > 5 ? "" : null))
                    .isNull();
            assertThat(one.once().run("b", "", lease -> done.incrementAndGet() > 5 ? "never" : ""))
                    .isEmpty();
        }
        assertThat(done).hasValue(2);
    }

    @Test
    void calls_at_once_do_the_work_once() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        List<Future<String>> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            LockClient client = i % 2 == 0 ? one : two;
            all.add(threads.submit(() -> client.once().run("payment:1", "", lease -> {
                Thread.sleep(20);
                return work(lease);
            })));
        }
        for (Future<String> each : all) {
            assertThat(each.get()).isEqualTo("receipt 1");
        }
        threads.shutdown();
    }

    @Test
    void another_fingerprint_is_refused_and_does_nothing() throws Exception {
        one.once().run("payment:1", "7 €", this::work);
        assertThatThrownBy(() -> two.once().run("payment:1", "8 €", this::work))
                .isInstanceOf(OnceConflictException.class)
                .hasMessageContaining("\"payment:1\" was used with another fingerprint");
        assertThat(failureOf(two.once().runAsync("payment:1", "8 €", lease -> new CompletableFuture<>())))
                .isInstanceOf(OnceConflictException.class);
        assertThat(done).hasValue(1);
    }

    @Test
    void a_failure_leaves_nothing() throws Exception {
        assertThatThrownBy(() -> one.once().run("payment:1", "", lease -> {
                    throw new IOException("the user's");
                }))
                .isInstanceOf(IOException.class);
        assertThat(failureOf(one.once().runAsync("payment:1", "", lease -> {
                    throw new IllegalStateException("the user's");
                })))
                .isInstanceOf(IllegalStateException.class);
        assertThat(one.inspect("payment:1").isLocked()).isFalse();
        assertThat(two.once().run("payment:1", "", this::work)).isEqualTo("receipt 1");
    }

    /** A client that no longer holds the lock writes no record: the next one does the work. */
    @Test
    void a_lock_that_is_lost_between_work_and_record_leaves_no_record() throws Exception {
        StoreOnce once = one.once();
        assertThatThrownBy(() -> once.run("payment:1", "", lease -> {
                    assertThat(two.forceRelease("payment:1")).isTrue();
                    Lease next = two.acquire("payment:1");
                    next.release();
                    return "receipt " + done.incrementAndGet();
                }))
                .isInstanceOf(LeaseLostException.class);
        assertThat(two.once().run("payment:1", "", this::work)).isEqualTo("receipt 2");
        assertThat(one.once().run("payment:1", "", this::work)).isEqualTo("receipt 2");
    }

    /** No message about the loss has arrived: the store's comparison alone finds it. */
    @Test
    void the_store_compares_the_holder_when_it_writes() throws Exception {
        Lease lease = one.acquire("payment:1");
        StoreOnce once = one.once();
        assertThat(get(once.find(lease, ""))).isEmpty();
        LockStore direct = server.connect(new StoreContext("hf-other", TimeSource.system()));
        get(direct.abandon("payment:1", lease.holderId()));
        assertThat(lease.isValid()).isTrue();
        assertThat(failureOf(once.keep(lease, "", "receipt")))
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("the work may be done again");
        assertThat(two.once().run("payment:1", "", this::work)).isEqualTo("receipt 1");
    }

    @Test
    void a_short_outage_does_not_lose_the_record() throws Exception {
        for (boolean executed : new boolean[] {false, true}) {
            executesFailed = executed;
            failures.set(3);
            String key = "payment:" + executed;
            String receipt = one.once().run(key, "", this::work);
            assertThat(failures).hasValue(0);
            assertThat(two.once().run(key, "", this::work)).isEqualTo(receipt);
        }
    }

    @Test
    void a_store_that_stays_away_fails_the_call_and_the_work_is_done_again() throws Exception {
        failures.set(Integer.MAX_VALUE);
        try (LockClient brief = open(Duration.ofMillis(300))) {
            assertThatThrownBy(() -> brief.once().run("payment:1", "", this::work))
                    .isInstanceOf(LockStoreException.class)
                    .hasMessageContaining("store: away");
        }
        failures.set(0);
        assertThat(two.once().run("payment:1", "", this::work)).isEqualTo("receipt 2");
    }

    @Test
    void a_store_without_records_refuses_before_the_work() {
        hasRecords = false;
        assertThatThrownBy(() -> one.once().run("payment:1", "", this::work))
                .isInstanceOf(LockStoreException.class)
                .hasMessage("memory keeps no results of work that is done once (expected: Redis in mode lua, or memory;"
                        + " with a database, JdbcOnce, which commits the result together with the work)");
        assertThatThrownBy(() -> one.once().requireStore()).isInstanceOf(LockStoreException.class);
        assertThat(done).hasValue(0);
        assertThat(one.inspect("payment:1").isLocked()).isFalse();
    }

    @Test
    void asynchronous_work_is_done_once() throws Exception {
        StoreOnce once = one.once();
        CompletableFuture<String> working = new CompletableFuture<>();
        CompletionStage<String> first = once.runAsync("payment:1", "", lease -> working);
        CompletionStage<String> second = two.once().runAsync("payment:1", "", lease -> {
            throw new AssertionError("done twice");
        });
        working.complete("receipt");
        assertThat(get(first)).isEqualTo("receipt");
        assertThat(get(second)).isEqualTo("receipt");
    }

    @Test
    void a_call_of_the_same_key_inside_the_work_is_refused() {
        assertThatThrownBy(() -> one.once().run("a", "", outer -> {
                    try {
                        return one.once().run("a", "", this::work);
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(done).hasValue(0);
    }

    @Test
    void a_call_waits_as_long_as_it_may() throws Exception {
        try (Lease held = one.acquire("payment:1")) {
            assertThatThrownBy(() -> two.once().waitAtMost(Duration.ZERO).run("payment:1", "", this::work))
                    .isInstanceOf(LockTimeoutException.class);
            assertThat(held.isValid()).isTrue();
        }
    }

    @Test
    void a_result_ends_with_its_time() throws Exception {
        StoreOnce second = one.once().keepFor(Duration.ofSeconds(1));
        second.run("a", "", this::work);
        Thread.sleep(1_100);
        assertThat(second.run("a", "", this::work)).isEqualTo("receipt 2");
    }

    @Test
    void leases_of_other_things_are_refused() throws Exception {
        try (Lease ofTwo = two.acquire("a");
                Lease permit = one.permits("a", 1).acquire();
                Lease writer = one.acquireWrite("a")) {
            for (Lease lease : List.of(ofTwo, permit, writer)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> one.once().find(lease, ""))
                        .withMessageContaining("is not a lock of this client");
            }
        }
    }

    @Test
    void bad_arguments_are_refused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> one.once().keepFor(Duration.ofMillis(999)))
                .withMessage("keepFor: 999 ms (expected: from 1 s to 365 days)");
        assertThatIllegalArgumentException().isThrownBy(() -> one.once().keepFor(Duration.ofDays(366)));
        assertThatIllegalArgumentException().isThrownBy(() -> one.once().run(" ", "", this::work));
        assertThatIllegalArgumentException().isThrownBy(() -> one.once().run("a", "\ud800", this::work));
        assertThatIllegalArgumentException().isThrownBy(() -> one.once().run("a", "", lease -> "\udc00"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> one.once().run("a", "", lease -> "x".repeat(1_048_577)))
                .withMessageContaining("at most 1048576");
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    private static Throwable failureOf(CompletionStage<?> stage) throws Exception {
        try {
            get(stage);
        } catch (ExecutionException e) {
            return e.getCause();
        }
        throw new AssertionError("no failure");
    }
}
