package io.holdfast.spring.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.spring.LockMode;
import io.holdfast.spring.LockTemplate;
import io.holdfast.spring.Locked;
import io.holdfast.spring.boot.Contexts;
import io.holdfast.spring.declaration.LockedNames;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The template does what the annotation does. */
class LockTemplateTest {

    private static final String STORE = "lock-template";

    private static final List<String> EVENTS = new CopyOnWriteArrayList<>();

    /** Writes down how its transactions end, and whether the lock is held then as the store sees it. */
    static class Transactions extends AbstractPlatformTransactionManager {

        private static final long serialVersionUID = 1;

        private final transient LockClient observer = LockClient.connect("memory:" + STORE);

        private void record(String what) {
            EVENTS.add(what + (observer.inspect("stock").isLocked() ? " locked" : " free"));
        }

        @Override
        protected Object doGetTransaction() {
            return new Object();
        }

        @Override
        protected boolean isExistingTransaction(Object transaction) {
            return TransactionSynchronizationManager.isActualTransactionActive();
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {}

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            record("commit");
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            record("rollback");
        }
    }

    public static class Stock {

        @Locked("stock")
        public <T> T locked(Supplier<T> work, @Nullable Lease lease) {
            EVENTS.add("token " + Objects.requireNonNull(lease).fencingToken());
            return work.get();
        }

        @Locked("stock")
        @Locked("account")
        public <T> T lockedTwice(Supplier<T> work) {
            return work.get();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Beans {

        @Bean
        Stock stock() {
            return new Stock();
        }

        @Bean
        Transactions transactionManager() {
            return new Transactions();
        }

        @Bean
        ObservationRegistry observations() {
            ObservationRegistry registry = ObservationRegistry.create();
            registry.observationConfig().observationHandler(new ObservationHandler<>() {
                @Override
                public void onStop(Observation.Context context) {
                    EVENTS.add(context.getName() + " "
                            + context.getLowCardinalityKeyValue("name").getValue() + " "
                            + context.getLowCardinalityKeyValue("outcome").getValue() + " "
                            + context.getHighCardinalityKeyValue("lock.names").getValue());
                }

                @Override
                public boolean supportsContext(Observation.Context context) {
                    return true;
                }
            });
            return registry;
        }
    }

    private interface Body {
        void run(LockTemplate locks, AssertableApplicationContext context) throws Exception;
    }

    private static void run(Body body) {
        EVENTS.clear();
        Contexts.memory(STORE)
                .withPropertyValues("holdfast.wait-time=200ms")
                .withUserConfiguration(Beans.class)
                .run(context -> body.run(context.getBean(LockTemplate.class), context));
    }

    @Test
    void the_work_runs_under_the_lock_and_its_result_and_checked_exceptions_pass_through() {
        run((locks, context) -> {
            LockClient client = context.getBean(LockClient.class);
            long token = locks.execute("stock", lease -> {
                assertThat(client.inspect("stock").isLocked()).isTrue();
                return lease.fencingToken();
            });
            assertThat(token).isPositive();
            assertThat(client.inspect("stock").isLocked()).isFalse();
            assertThatThrownBy(() -> locks.executeWithoutResult("stock", lease -> {
                        throw new IOException("disk");
                    }))
                    .isExactlyInstanceOf(IOException.class);
            assertThat(client.inspect("stock").isLocked()).isFalse();
            assertThat(locks.<@Nullable String, RuntimeException>execute("stock", lease -> null))
                    .isNull();
        });
    }

    @Test
    void in_a_transaction_the_lock_is_held_until_that_ended() {
        run((locks, context) -> {
            TransactionTemplate transaction = new TransactionTemplate(context.getBean(Transactions.class));
            transaction.executeWithoutResult(
                    status -> locks.executeWithoutResult("stock", lease -> EVENTS.add("sell")));
            assertThat(EVENTS).contains("sell", "commit locked");
            assertThat(context.getBean(LockClient.class).inspect("stock").isLocked())
                    .isFalse();
        });
    }

    /** What a client's own lambda form does: its lock ends with the lambda. */
    @Test
    void the_client_itself_releases_before_the_commit() {
        run((locks, context) -> {
            LockClient client = context.getBean(LockClient.class);
            new TransactionTemplate(context.getBean(Transactions.class))
                    .executeWithoutResult(status -> client.tryRun("stock", lease -> EVENTS.add("sell")));
            assertThat(EVENTS).containsExactly("sell", "commit free");
        });
    }

    @Test
    void a_lost_lease_rolls_the_transaction_back_and_is_thrown() {
        run((locks, context) -> {
            LockClient client = context.getBean(LockClient.class);
            TransactionTemplate transaction = new TransactionTemplate(context.getBean(Transactions.class));
            assertThatThrownBy(() ->
                            transaction.executeWithoutResult(status -> locks.executeWithoutResult("stock", lease -> {
                                client.forceRelease("stock");
                                await().until(() -> !lease.isValid());
                            })))
                    .isInstanceOf(LeaseLostException.class);
            assertThat(EVENTS).contains("rollback free");
            assertThatThrownBy(() -> locks.executeWithoutResult("stock", lease -> {
                        client.forceRelease("stock");
                        await().until(() -> !lease.isValid());
                    }))
                    .isInstanceOf(LeaseLostException.class);
        });
    }

    @Test
    void it_is_reentrant_with_locked_methods_in_both_directions() {
        run((locks, context) -> {
            Stock stock = context.getBean(Stock.class);
            long inner = stock.locked(() -> locks.execute("stock", Lease::fencingToken), null);
            assertThat(EVENTS).contains("token " + inner);
            EVENTS.clear();
            locks.executeWithoutResult("stock", lease -> {
                assertThat(stock.locked(() -> locks.tryExecute("stock", again -> {}), null))
                        .isTrue();
                assertThat(EVENTS).contains("token " + lease.fencingToken());
                assertThat(context.getBean(LockClient.class).inspect("stock").isLocked())
                        .isTrue();
            });
            assertThat(context.getBean(LockClient.class).inspect("stock").isLocked())
                    .isFalse();
        });
    }

    @Test
    void a_lock_that_is_busy_for_the_default_wait_time_is_an_exception_or_not_executed() throws Exception {
        try (LockClient other = LockClient.connect("memory:" + STORE)) {
            run((locks, context) -> {
                try (Lease held = other.acquire("stock")) {
                    assertThatThrownBy(() -> locks.execute("stock", lease -> 1))
                            .isInstanceOf(LockTimeoutException.class)
                            .hasMessageContaining("200 ms");
                    assertThat(locks.tryExecute("stock", lease -> EVENTS.add("never")))
                            .isFalse();
                    assertThat(locks.tryExecute("stock", Duration.ofMillis(10), lease -> EVENTS.add("never")))
                            .isFalse();
                    assertThat(held.isValid()).isTrue();
                }
                assertThat(locks.tryExecute("stock", lease -> EVENTS.add("ran")))
                        .isTrue();
                assertThat(EVENTS)
                        .containsExactly(
                                "holdfast.locked stock timeout stock",
                                "holdfast.locked stock skipped stock",
                                "holdfast.locked stock skipped stock",
                                "ran",
                                "holdfast.locked stock completed stock");
            });
        }
    }

    @Test
    void options_are_those_of_the_caller() {
        run((locks, context) -> {
            LockOptions fixed = LockOptions.defaults().leaseFor(Duration.ofMinutes(5));
            Duration left = locks.execute("stock", fixed, Lease::remaining);
            assertThat(left).isBetween(Duration.ofMinutes(4), Duration.ofMinutes(5));
            locks.executeWithoutResult(
                    "stock", fixed, lease -> assertThat(lease.remaining()).isGreaterThan(Duration.ofMinutes(4)));
        });
    }

    @Test
    void several_locks_are_acquired_together_and_those_that_are_held_are_among_the_leases() {
        run((locks, context) -> {
            LockClient client = context.getBean(LockClient.class);
            context.getBean(LockedNames.class).add("account");
            long held = locks.execute(
                    "account:2",
                    outer -> locks.executeAll(List.of("account:3", "account:2", "account:1", "account:3"), leases -> {
                        assertThat(leases.keySet()).containsExactly("account:1", "account:2", "account:3");
                        assertThat(leases.values()).allMatch(Lease::isValid);
                        assertThat(client.inspect("account:1").isLocked()).isTrue();
                        return Objects.requireNonNull(leases.get("account:2")).fencingToken() - outer.fencingToken();
                    }));
            assertThat(held).isZero();
            assertThat(client.localLocks()).isEmpty();
            assertThat(EVENTS).contains("holdfast.locked account completed account:1,account:2,account:3");
            assertThatThrownBy(() -> locks.executeAll(List.of(), leases -> 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("at least one");
        });
    }

    @Test
    void a_template_with_permits_takes_these_and_no_lock() {
        run((locks, context) -> {
            LockClient client = context.getBean(LockClient.class);
            LockTemplate exports = locks.withPermits(3, 2);
            String ran = exports.execute("stock", permit -> {
                assertThat(permit.isExclusive()).isFalse();
                assertThat(client.inspect("stock").isLocked()).isFalse();
                assertThat(client.permits("stock", 3).weight(2).tryAcquire()).isEmpty();
                assertThat(locks.withPermits(3).tryExecute("stock", nested -> EVENTS.add("nested")))
                        .isTrue();
                return "ran";
            });
            assertThat(ran).isEqualTo("ran");
            assertThatThrownBy(() -> exports.executeAll(List.of("a", "b"), leases -> 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("permits of 2 names (expected: one name");
            assertThatThrownBy(() -> locks.withPermits(0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("permits: 0 (expected: from 1 to 1048576)");
            assertThatThrownBy(() -> locks.withPermits(2, 3)).hasMessageContaining("from 1 to the permits, 2");
            assertThat(EVENTS).contains("nested");
        });
    }

    @Test
    void a_template_takes_a_half_of_a_read_write_lock() {
        run((locks, context) -> {
            LockClient client = context.getBean(LockClient.class);
            LockTemplate reads = locks.withMode(LockMode.READ);
            LockTemplate writes = locks.withMode(LockMode.WRITE);
            reads.executeWithoutResult("stock", lease -> {
                assertThat(lease.isExclusive()).isFalse();
                assertThat(client.inspect("stock").isLocked()).isFalse();
                assertThat(client.tryAcquireWrite("stock")).isEmpty();
                client.tryAcquireRead("stock").orElseThrow().release();
                assertThatThrownBy(() -> writes.execute("stock", nested -> 1))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("wants to write \"stock\", and its caller reads it");
            });
            writes.executeWithoutResult("stock", lease -> {
                assertThat(lease.isExclusive()).isTrue();
                assertThat(client.tryAcquireRead("stock")).isEmpty();
                assertThat(reads.tryExecute("stock", nested -> EVENTS.add("nested reader")))
                        .isTrue();
            });
            assertThat(EVENTS).contains("nested reader");
            assertThatThrownBy(() -> reads.executeAll(List.of("a", "b"), leases -> 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("read-write locks of 2 names (expected: one name");
            reads.withMode(LockMode.EXCLUSIVE)
                    .executeWithoutResult(
                            "stock",
                            lease -> assertThat(client.inspect("stock").isLocked())
                                    .isTrue());
        });
    }

    /** Only the template and locked methods enter the lock again; the client itself knows no caller. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void under_a_locked_method_the_client_refuses_to_wait_for_the_same_thread() {
        run((locks, context) -> {
            LockClient client = context.getBean(LockClient.class);
            Supplier<Boolean> work = () -> {
                assertThatThrownBy(() -> client.getLock("stock").lock())
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("would wait for itself without end");
                assertThatThrownBy(() -> client.acquire("stock")).isInstanceOf(IllegalStateException.class);
                return true;
            };
            assertThat(context.getBean(Stock.class).locked(work, null)).isTrue();
            assertThat(locks.<Boolean, RuntimeException>execute("stock", lease -> work.get()))
                    .isTrue();
        });
    }

    @Test
    void an_interrupt_during_the_wait_is_no_checked_exception_and_sets_the_flag() throws Exception {
        try (LockClient other = LockClient.connect("memory:" + STORE)) {
            run((locks, context) -> {
                try (Lease held = other.acquire("stock")) {
                    Thread.currentThread().interrupt();
                    assertThatThrownBy(() -> locks.execute("stock", lease -> 1))
                            .isInstanceOf(CancellationException.class)
                            .hasMessageContaining("\"stock\"");
                    assertThat(Thread.interrupted()).isTrue();
                    assertThat(held.isValid()).isTrue();
                }
            });
        }
    }

    /** The wait for one name, and the wait for several, say who held the lock: this is what an operator looks for. */
    @Test
    void a_timeout_names_the_holder_of_the_busy_name() throws Exception {
        try (LockClient other = LockClient.connect("memory:" + STORE);
                Lease held = other.acquire("stock")) {
            String holder = other.inspect("stock").holder().orElseThrow();
            run((locks, context) -> {
                Stock stock = context.getBean(Stock.class);
                Map<String, ThrowingCallable> calls = Map.of(
                        "template, one name", () -> locks.execute("stock", lease -> 1),
                        "template, several", () -> locks.executeAll(List.of("account", "stock", "tax"), leases -> 1),
                        "method, one name", () -> stock.locked(() -> 1, null),
                        "method, several", () -> stock.lockedTwice(() -> 1));
                calls.forEach((how, call) -> assertThatThrownBy(call)
                        .as(how)
                        .isInstanceOfSatisfying(
                                LockTimeoutException.class,
                                e -> assertThat(e.holder()).hasValue(holder))
                        .hasMessageMatching("(?i).*the lock \"stock\" was held by others for \\d+ ms, last by .*"));
            });
            assertThat(held.isValid()).isTrue();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoClients {

        @Bean
        LockClient one() {
            return LockClient.connect("memory:" + STORE);
        }

        @Bean
        LockClient two() {
            return LockClient.connect("memory:" + STORE);
        }
    }

    @Test
    void with_several_clients_the_caller_names_one() {
        Contexts.memory(STORE).withUserConfiguration(TwoClients.class).run(context -> {
            LockTemplate locks = context.getBean(LockTemplate.class);
            assertThatThrownBy(() -> locks.execute("stock", lease -> 1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("withClient")
                    .hasCauseInstanceOf(NoUniqueBeanDefinitionException.class);
            LockClient two = context.getBean("two", LockClient.class);
            assertThat(locks.withClient(two)
                            .<Integer, RuntimeException>execute(
                                    "stock", lease -> two.localLocks().size()))
                    .isEqualTo(1);
        });
    }

    @Test
    void a_template_of_the_application_replaces_the_bean() {
        LockTemplate own = new BlockingLockTemplate(
                () -> {
                    throw new AssertionError();
                },
                () -> {
                    throw new AssertionError();
                },
                () -> ObservationRegistry.NOOP,
                new LockedNames(),
                name -> name);
        Contexts.memory(STORE)
                .withBean(LockTemplate.class, () -> own)
                .run(context -> assertThat(context.getBean(LockTemplate.class)).isSameAs(own));
    }
}
