package io.holdfast.spring.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.OnceConflictException;
import io.holdfast.spring.Idempotent;
import io.holdfast.spring.Locked;
import io.holdfast.spring.OnceRecord;
import io.holdfast.spring.boot.Contexts;
import io.holdfast.spring.boot.HoldfastIdempotentAutoConfiguration;
import io.holdfast.spring.boot.HoldfastMetricsAutoConfiguration;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.testkit.servers.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.TransactionTemplate;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Methods of an application without a database, which keeps their results in the store of the locks. */
@Timeout(60)
class IdempotentInStoreTest {

    record Receipt(int number, List<String> lines) {}

    public static class Payments {

        final AtomicInteger runs = new AtomicInteger();
        final LockClient locks;

        Payments(LockClient locks) {
            this.locks = locks;
        }

        @Nullable
        Payments self;

        @Idempotent(name = "pay", key = "#id", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public Receipt pay(String id, int amount) {
            if (amount < 0) {
                throw new IllegalArgumentException("no");
            }
            return new Receipt(runs.incrementAndGet(), List.of("tea " + amount));
        }

        @Idempotent(name = "nothing", key = "#id", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public void nothing(String id) {
            runs.incrementAndGet();
        }

        @Idempotent(name = "optional", key = "#id", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public Optional<Receipt> optional(String id, boolean empty) {
            runs.incrementAndGet();
            return empty ? Optional.empty() : Optional.of(new Receipt(1, List.of()));
        }

        @Idempotent(name = "mono", key = "#id", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public Mono<Receipt> mono(String id, int amount) {
            return Mono.defer(() -> {
                runs.incrementAndGet();
                return amount < 0
                        ? Mono.error(new IllegalArgumentException("no"))
                        : Mono.just(new Receipt(amount, List.of()));
            });
        }

        public int runs() {
            return runs.get();
        }

        @Idempotent(name = "empty", key = "#id", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public Mono<Void> empty(String id) {
            return Mono.fromRunnable(runs::incrementAndGet);
        }

        @Locked(name = "both", key = "#id")
        @Idempotent(name = "both", key = "#id", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public Mono<Receipt> both(String id) {
            return Mono.fromSupplier(() -> new Receipt(runs.incrementAndGet(), List.of()));
        }

        @Idempotent(name = "nested", key = "#id", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public String nested(String id) {
            runs.incrementAndGet();
            return self == null ? "" : self.nested(id);
        }

        @Idempotent(name = "losing", key = "#id", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public int losing(String id, Lease lease) {
            if (runs.incrementAndGet() == 1) {
                assertThat(locks.forceRelease(lease.name())).isTrue();
            }
            return runs.get();
        }
    }

    private final String id = UUID.randomUUID().toString();

    private ApplicationContextRunner context() {
        return OnceContexts.json(Contexts.memory("in-store-" + id)).withBean(Payments.class);
    }

    private void with(java.util.function.Consumer<Payments> test) {
        context().run(started -> {
            assertThat(started).hasNotFailed();
            test.accept(started.getBean(Payments.class));
        });
    }

    @Test
    void a_second_call_receives_the_stored_result() {
        with(payments -> {
            Receipt first = payments.pay(id, 7);
            assertThat(payments.pay(id, 7)).isEqualTo(first);
            assertThat(payments.pay("other", 7)).isNotEqualTo(first);
            assertThatThrownBy(() -> payments.pay(id, 8)).isInstanceOf(OnceConflictException.class);
        });
        // Another instance of the application, with the same store.
        with(payments -> assertThat(payments.pay(id, 7)).isEqualTo(new Receipt(1, List.of("tea 7"))));
    }

    @Test
    void a_failure_leaves_nothing() {
        with(payments -> {
            assertThatThrownBy(() -> payments.pay(id, -1)).hasMessage("no");
            assertThat(payments.pay(id, 7).number()).isEqualTo(1);
            assertThatThrownBy(() -> payments.mono(id, -1).block()).hasMessage("no");
            assertThat(payments.mono(id, 7).block()).isEqualTo(new Receipt(7, List.of()));
        });
    }

    @Test
    void results_of_all_kinds_are_replayed() {
        with(payments -> {
            for (int i = 0; i < 2; i++) {
                payments.nothing(id);
                assertThat(payments.optional("full" + id, false)).contains(new Receipt(1, List.of()));
                assertThat(payments.optional(id, true)).isEmpty();
                assertThat(payments.mono(id, 5).block()).isEqualTo(new Receipt(5, List.of()));
                assertThat(payments.empty(id).block()).isNull();
                assertThat(payments.both(id).block()).isEqualTo(new Receipt(6, List.of()));
            }
            assertThat(payments.pay(id, 1).number()).as("methods that ran").isEqualTo(7);
        });
    }

    @Test
    void a_publisher_with_another_fingerprint_does_nothing() {
        with(payments -> {
            payments.mono(id, 5).block();
            assertThatThrownBy(() -> payments.mono(id, 6).block()).isInstanceOf(OnceConflictException.class);
        });
    }

    public static class Slow {

        final AtomicInteger runs = new AtomicInteger();
        final Sinks.One<String> bank = Sinks.one();

        @Idempotent(name = "slow", key = "#id", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public Mono<String> slow(String id) {
            return Mono.defer(() -> {
                runs.incrementAndGet();
                return bank.asMono();
            });
        }

        public int runs() {
            return runs.get();
        }

        public void answer(String text) {
            bank.tryEmitValue(text);
        }
    }

    @Test
    void subscribers_at_once_share_one_run_and_a_cancelled_one_leaves_nothing() {
        OnceContexts.json(Contexts.memory("slow-" + id)).withBean(Slow.class).run(started -> {
            Slow slow = started.getBean(Slow.class);
            var cancelled = slow.slow(id).subscribe();
            await().until(() -> slow.runs() == 1);
            cancelled.dispose();
            CompletableFuture<String> first = slow.slow(id).toFuture();
            await().until(() -> slow.runs() == 2);
            CompletableFuture<String> second = slow.slow(id).toFuture();
            slow.answer("receipt");
            assertThat(first.join()).isEqualTo("receipt");
            assertThat(second.join()).isEqualTo("receipt");
            assertThat(slow.runs()).isEqualTo(2);
        });
    }

    @Test
    void a_call_of_its_own_key_is_refused() {
        context().run(started -> {
            Payments payments = started.getBean(Payments.class);
            Payments target = (Payments) org.springframework.test.util.AopTestUtils.getTargetObject(payments);
            target.self = payments;
            assertThatThrownBy(() -> payments.nested(id))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("asks for its own key");
        });
    }

    @Test
    void a_lock_that_is_lost_during_the_work_leaves_no_record() {
        with(payments -> {
            assertThatThrownBy(() -> payments.losing(id, Locked.LEASE)).isInstanceOf(LeaseLostException.class);
            assertThat(payments.losing(id, Locked.LEASE)).isEqualTo(2);
            assertThat(payments.losing(id, Locked.LEASE)).isEqualTo(2);
        });
    }

    public static class Orders {

        private final Payments payments;

        Orders(Payments payments) {
            this.payments = payments;
        }

        @Idempotent(name = "order", key = "#id", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public int order(String id, int amount) {
            return payments.pay(id, amount).number();
        }

        @Idempotent(name = "order", key = "#id", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public Mono<Integer> later(String id, int amount) {
            return Mono.fromSupplier(() -> payments.pay(id, amount).number());
        }
    }

    @Test
    void a_conflict_inside_the_work_is_counted_for_its_own_name() {
        context()
                .withBean(Orders.class)
                .withConfiguration(AutoConfigurations.of(
                        HoldfastIdempotentAutoConfiguration.class, HoldfastMetricsAutoConfiguration.class))
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .run(started -> {
                    started.getBean(Payments.class).pay(id, 1);
                    Orders orders = started.getBean(Orders.class);
                    assertThatThrownBy(() -> orders.order(id, 2)).isInstanceOf(OnceConflictException.class);
                    assertThatThrownBy(() -> orders.later(id, 2).block()).isInstanceOf(OnceConflictException.class);
                    MeterRegistry meters = started.getBean(MeterRegistry.class);
                    assertThat(List.of("pay", "order"))
                            .map(name -> meters.get("holdfast.once")
                                    .tags("name", name, "outcome", name.equals("pay") ? "conflict" : "failed")
                                    .counter()
                                    .count())
                            .containsExactly(2.0, 2.0);
                });
    }

    /** A rollback would leave the record without the work. */
    @Test
    void a_call_inside_a_transaction_is_refused() {
        OnceContexts.h2("in-store-" + id).withBean(Payments.class).run(started -> {
            Payments payments = started.getBean(Payments.class);
            TransactionTemplate transaction = started.getBean(TransactionTemplate.class);
            assertThatThrownBy(() -> transaction.executeWithoutResult(status -> payments.nothing(id)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("is called inside a transaction, which may roll its work back");
            assertThat(payments.pay(id, 1).number()).isEqualTo(1);
        });
    }

    /** Begins and ends transactions of nothing. */
    @SuppressWarnings("serial") // nobody writes it anywhere
    static class ReactiveTransactions extends AbstractReactiveTransactionManager {

        @Override
        protected Object doGetTransaction(TransactionSynchronizationManager current) {
            return new Object();
        }

        @Override
        protected Mono<Void> doBegin(
                TransactionSynchronizationManager current, Object transaction, TransactionDefinition definition) {
            return Mono.empty();
        }

        @Override
        protected Mono<Void> doCommit(TransactionSynchronizationManager current, GenericReactiveTransaction status) {
            return Mono.empty();
        }

        @Override
        protected Mono<Void> doRollback(TransactionSynchronizationManager current, GenericReactiveTransaction status) {
            return Mono.empty();
        }
    }

    /** It belongs to the subscriber, and no thread knows of it. */
    @Test
    void a_subscriber_inside_a_transaction_is_refused() {
        TransactionalOperator transaction = TransactionalOperator.create(new ReactiveTransactions());
        with(payments -> {
            assertThatThrownBy(() ->
                            payments.mono(id, 1).as(transaction::transactional).block())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("is called inside a transaction, which may roll its work back");
            assertThat(payments.runs()).isEqualTo(0);
            assertThat(payments.mono(id, 1).block()).isEqualTo(new Receipt(1, List.of()));
        });
    }

    static class OfStage {
        @Idempotent(name = "x", key = "#p0", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public CompletionStage<String> method(String id) {
            return CompletableFuture.completedFuture(id);
        }
    }

    static class OfFlux {
        @Idempotent(name = "x", key = "#p0", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public Flux<String> method(String id) {
            return Flux.just(id);
        }
    }

    static class InTransaction {
        @Idempotent(name = "x", key = "#p0", transactionManager = "a", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public void method(String id) {}
    }

    static class TooLong {
        @Idempotent(name = "x", key = "#p0", keepFor = "366d", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public void method(String id) {}
    }

    static class InDatabase {
        @Idempotent(name = "x", key = "#p0", fingerprint = "#p0")
        public void method(String id) {}
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            OfStage       | the result of a CompletionStage is not stored
            OfFlux        | the result of a Flux is not stored
            InTransaction | transactionManager, but its record is in the store of the locks
            TooLong       | from 1s to 365d
            InDatabase    | or record = OnceRecord.STORE_AT_LEAST_ONCE, which needs no database
            """)
    void a_declaration_that_cannot_work(String bean, String part) throws ClassNotFoundException {
        refused(Contexts.memory("refused"), Class.forName(getClass().getName() + "$" + bean), part);
    }

    @Test
    void a_store_without_records_stops_the_start() {
        try (RedisServer server = RedisServer.start()) {
            ApplicationContextRunner redis =
                    OnceContexts.json(Contexts.boot()).withPropertyValues("spring.data.redis.url=" + server.uri());
            refused(
                    redis.withPropertyValues("holdfast.mode=commands"),
                    Payments.class,
                    "keeps no results of work that is done once");
            redis.withBean(Payments.class).run(started -> {
                assertThat(started).hasNotFailed();
                Payments payments = started.getBean(Payments.class);
                Receipt first = payments.pay(id, 7);
                assertThat(payments.pay(id, 7)).isEqualTo(first);
                assertThat(payments.mono(id, 7).block())
                        .isEqualTo(payments.mono(id, 7).block());
            });
        }
    }

    private static void refused(ApplicationContextRunner context, Class<?> bean, String part) {
        context.withBean(bean).run(started -> {
            assertThat(started).hasFailed();
            Throwable cause = started.getStartupFailure();
            while (cause.getCause() != null && !(cause instanceof LockedDefinitionException)) {
                cause = cause.getCause();
            }
            assertThat(cause).isInstanceOf(LockedDefinitionException.class).hasMessageContaining(part);
        });
    }
}
