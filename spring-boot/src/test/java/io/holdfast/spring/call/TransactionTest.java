package io.holdfast.spring.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.spring.Leader;
import io.holdfast.spring.Leaderships;
import io.holdfast.spring.Limited;
import io.holdfast.spring.Locked;
import io.holdfast.spring.OnLost;
import io.holdfast.spring.boot.Contexts;
import io.holdfast.spring.startup.LockedBeanPostProcessor;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionTemplate;

/** The lock is around the transaction, and the commit is guarded by the lease. */
class TransactionTest {

    private static final List<String> EVENTS = new CopyOnWriteArrayList<>();

    /** Writes down what happens, and whether the lock is held at that moment as the store sees it. */
    static class Recorder extends AbstractPlatformTransactionManager {

        private static final long serialVersionUID = 1;

        private final transient LockClient observer = LockClient.connect("memory:transactions");

        private void record(String what) {
            boolean limited = observer.permits("stock", 1)
                    .tryAcquire()
                    .map(permit -> {
                        permit.release();
                        return false;
                    })
                    .orElse(true);
            EVENTS.add(
                    what + (observer.inspect("stock").isLocked() ? " locked" : " free") + (limited ? " limited" : ""));
        }

        @Override
        protected Object doGetTransaction() {
            return new Object();
        }

        @Override
        protected boolean isExistingTransaction(Object transaction) {
            return org.springframework.transaction.support.TransactionSynchronizationManager
                    .isActualTransactionActive();
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            record("begin");
        }

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

        private final LockClient client;

        Stock(LockClient client) {
            this.client = client;
        }

        @Transactional
        @Locked("stock")
        public void sell() {
            EVENTS.add("sell");
        }

        @Transactional
        @Locked("stock")
        public void sellAndLose() {
            client.forceRelease("stock");
            org.awaitility.Awaitility.await().until(() -> client.localLocks().isEmpty());
        }

        @Transactional
        @Locked(name = "stock", onLost = OnLost.EVENT)
        public void sellAndLoseAndBeTold() {
            sellAndLose();
        }

        @Transactional
        @Limited(name = "stock", permits = "1")
        @Locked("stock")
        public void sellLimited() {
            EVENTS.add("sell");
        }

        @Limited(name = "stock", permits = "1")
        public void limitedInCallersTransaction() {
            EVENTS.add("sell");
        }

        @Locked("stock")
        public void sellInCallersTransaction() {
            EVENTS.add("sell");
        }

        @Locked("stock")
        public void sellWhile(Runnable other) {
            other.run();
        }
    }

    public static class LeadersStock {

        private final LockClient client;

        LeadersStock(LockClient client) {
            this.client = client;
        }

        @Transactional
        @Leader("stock")
        public void sellAsLeader() {
            EVENTS.add("sell");
        }

        /** Returns when the loss has interrupted it. */
        @Transactional
        @Leader("stock")
        public void sellAsLeaderAndLose() {
            client.forceRelease("leader:stock");
            while (!Thread.interrupted()) {
                Thread.onSpinWait();
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LeaderBeans {

        @Bean
        LeadersStock leadersStock(LockClient client) {
            return new LeadersStock(client);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Beans {

        @Bean
        Recorder transactionManager() {
            return new Recorder();
        }

        @Bean
        Stock stock(LockClient client) {
            return new Stock(client);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(proxyTargetClass = true)
    static class DefaultOrder {}

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(proxyTargetClass = true, order = Ordered.HIGHEST_PRECEDENCE)
    static class HighestOrder {}

    /** What a peer's advisor of the usual order amounts to: it comes after the transaction's. */
    @Configuration(proxyBeanMethods = false)
    static class AsPeersDo {
        @Bean
        static BeanPostProcessor inside() {
            return new BeanPostProcessor() {
                @Override
                public Object postProcessBeforeInitialization(Object bean, String name) {
                    if (bean instanceof LockedBeanPostProcessor ours) {
                        ours.setBeforeExistingAdvisors(false);
                    }
                    return bean;
                }
            };
        }
    }

    @Test
    void the_lock_is_taken_before_the_transaction_begins_and_released_after_it_ended() {
        for (Class<?> order : List.of(DefaultOrder.class, HighestOrder.class)) {
            EVENTS.clear();
            run(stock -> stock.getBean(Stock.class).sell(), Beans.class, order);
            assertThat(EVENTS).as(order.getSimpleName()).containsExactly("begin locked", "sell", "commit locked");
        }
    }

    @Test
    void permits_are_around_the_transaction_too() {
        for (Class<?> order : List.of(DefaultOrder.class, HighestOrder.class)) {
            EVENTS.clear();
            run(stock -> stock.getBean(Stock.class).sellLimited(), Beans.class, order);
            assertThat(EVENTS)
                    .as(order.getSimpleName())
                    .containsExactly("begin locked limited", "sell", "commit locked limited");
        }
    }

    @Test
    void in_a_transaction_of_the_caller_a_permit_is_held_until_that_ended() {
        EVENTS.clear();
        run(
                context -> {
                    Stock stock = context.getBean(Stock.class);
                    Recorder manager = context.getBean(Recorder.class);
                    new TransactionTemplate(manager).executeWithoutResult(status -> {
                        stock.limitedInCallersTransaction();
                        stock.limitedInCallersTransaction();
                        EVENTS.add("after");
                    });
                    manager.record("end");
                },
                Beans.class,
                DefaultOrder.class);
        assertThat(EVENTS).containsExactly("begin free", "sell", "sell", "after", "commit free limited", "end free");
    }

    /** The control: with the advice inside, the test above would see it. */
    @Test
    void an_advice_inside_of_the_transaction_would_begin_and_commit_without_the_lock() {
        EVENTS.clear();
        Contexts.memory("transactions")
                .withUserConfiguration(Beans.class, HighestOrder.class)
                .withInitializer(context -> context.addBeanFactoryPostProcessor(
                        factory -> factory.addBeanPostProcessor(AsPeersDo.inside())))
                .run(context -> {
                    context.getBean(Stock.class).sell();
                    assertThat(EVENTS).startsWith("begin free");
                });
    }

    @Test
    void a_lost_lease_rolls_back() {
        EVENTS.clear();
        run(
                context -> assertThatThrownBy(() -> context.getBean(Stock.class).sellAndLose())
                        .isInstanceOf(LeaseLostException.class),
                Beans.class,
                DefaultOrder.class);
        assertThat(EVENTS).containsExactly("begin locked", "rollback free");
    }

    @Test
    void a_term_that_is_lost_rolls_back() {
        EVENTS.clear();
        run(
                context -> {
                    Leaderships leaderships = context.getBean(Leaderships.class);
                    LeadersStock stock = context.getBean(LeadersStock.class);
                    org.awaitility.Awaitility.await()
                            .until(() -> leaderships.term("stock").isPresent());
                    stock.sellAsLeader();
                    assertThatThrownBy(stock::sellAsLeaderAndLose).isInstanceOf(LeaseLostException.class);
                },
                Beans.class,
                LeaderBeans.class,
                DefaultOrder.class);
        assertThat(EVENTS).containsExactly("begin free", "sell", "commit free", "begin free", "rollback free");
    }

    /** The event leaves the result as it is, but what the result would rest on is not committed. */
    @Test
    void a_lost_lease_rolls_back_also_where_an_event_tells_of_it() {
        EVENTS.clear();
        run(
                context -> assertThatThrownBy(() -> context.getBean(Stock.class).sellAndLoseAndBeTold())
                        .isInstanceOf(LeaseLostException.class),
                Beans.class,
                DefaultOrder.class);
        assertThat(EVENTS).containsExactly("begin locked", "rollback free");
    }

    /** The caller commits after the method returned: until then nobody else may see the old state. */
    @Test
    void in_a_transaction_of_the_caller_the_lock_is_held_until_that_ended() {
        EVENTS.clear();
        run(
                context -> {
                    Stock stock = context.getBean(Stock.class);
                    new TransactionTemplate(context.getBean(Recorder.class)).executeWithoutResult(status -> {
                        stock.sellInCallersTransaction();
                        stock.sellInCallersTransaction();
                        EVENTS.add("after");
                    });
                    assertThat(context.getBean(LockClient.class).localLocks()).isEmpty();
                },
                Beans.class,
                DefaultOrder.class);
        assertThat(EVENTS).containsExactly("begin free", "sell", "sell", "after", "commit locked");
    }

    @Test
    void a_lease_lost_in_a_transaction_of_the_caller_rolls_that_back() {
        EVENTS.clear();
        run(
                context -> {
                    LockClient client = context.getBean(LockClient.class);
                    Stock stock = context.getBean(Stock.class);
                    TransactionTemplate template = new TransactionTemplate(context.getBean(Recorder.class));
                    assertThatThrownBy(() -> template.executeWithoutResult(status -> {
                                stock.sellInCallersTransaction();
                                client.forceRelease("stock");
                                org.awaitility.Awaitility.await()
                                        .until(() -> client.localLocks().isEmpty());
                            }))
                            .isInstanceOf(LeaseLostException.class);
                },
                Beans.class,
                DefaultOrder.class);
        assertThat(EVENTS).containsExactly("begin free", "sell", "rollback free");
    }

    /** A transaction that was begun outside of Spring, as JTA's are, and that ends on a thread of its manager. */
    static class Foreign extends AbstractPlatformTransactionManager {

        private static final long serialVersionUID = 1;

        private final transient List<TransactionSynchronization> atTheEnd = new CopyOnWriteArrayList<>();

        @Override
        protected Object doGetTransaction() {
            return new Object();
        }

        @Override
        protected boolean isExistingTransaction(Object transaction) {
            return true;
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            throw new AssertionError("there is one already");
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            throw new AssertionError("its beginner commits it");
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            throw new AssertionError("its beginner rolls it back");
        }

        @Override
        protected void registerAfterCompletionWithExistingTransaction(
                Object transaction, List<TransactionSynchronization> synchronizations) {
            atTheEnd.addAll(synchronizations);
        }

        void end(int status) {
            atTheEnd.forEach(each -> each.afterCompletion(status));
            atTheEnd.clear();
        }

        void commitElsewhere() {
            Thread other = new Thread(() -> {
                atTheEnd.forEach(each -> each.afterCompletion(TransactionSynchronization.STATUS_COMMITTED));
                atTheEnd.clear();
            });
            other.start();
            try {
                other.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ForeignTransaction {

        @Bean
        Foreign transactionManager() {
            return new Foreign();
        }

        @Bean
        Stock stock(LockClient client) {
            return new Stock(client);
        }
    }

    @Test
    void a_transaction_that_ends_on_another_thread_leaves_nothing_on_the_first() {
        EVENTS.clear();
        run(
                context -> {
                    LockClient client = context.getBean(LockClient.class);
                    Stock stock = context.getBean(Stock.class);
                    Foreign manager = context.getBean(Foreign.class);
                    for (int i = 0; i < 2; i++) {
                        // The second time, a lease of the first would be taken for one that was lost.
                        new TransactionTemplate(manager)
                                .executeWithoutResult(status -> stock.sellInCallersTransaction());
                        assertThat(client.localLocks()).hasSize(1);
                        manager.commitElsewhere();
                        assertThat(client.localLocks()).isEmpty();
                    }
                    HeldLeases.ensureValid();
                },
                ForeignTransaction.class,
                DefaultOrder.class);
        assertThat(EVENTS).containsExactly("sell", "sell");
    }

    @Test
    void a_call_is_locked_to_its_end_when_the_transaction_whose_lock_it_uses_ends_on_another_thread() {
        run(
                context -> {
                    LockClient client = context.getBean(LockClient.class);
                    Stock stock = context.getBean(Stock.class);
                    Foreign manager = context.getBean(Foreign.class);
                    new TransactionTemplate(manager).executeWithoutResult(status -> stock.sellInCallersTransaction());
                    Object token = client.inspect("stock").fencingToken();
                    // What the same thread serves next.
                    stock.sellWhile(() -> {
                        manager.commitElsewhere();
                        assertThat(client.inspect("stock").isLocked()).isTrue();
                        stock.sellWhile(() -> assertThat(client.inspect("stock").fencingToken())
                                .isEqualTo(token));
                        assertThat(client.inspect("stock").isLocked()).isTrue();
                    });
                    assertThat(client.inspect("stock").isLocked()).isFalse();
                    assertThat(client.localLocks()).isEmpty();
                },
                ForeignTransaction.class,
                DefaultOrder.class);
    }

    @Test
    void the_lock_of_an_older_transaction_is_held_until_the_younger_one_that_uses_it_ended() {
        run(
                context -> {
                    LockClient client = context.getBean(LockClient.class);
                    Stock stock = context.getBean(Stock.class);
                    Foreign manager = context.getBean(Foreign.class);
                    TransactionTemplate template = new TransactionTemplate(manager);
                    template.executeWithoutResult(status -> stock.sellInCallersTransaction());
                    template.executeWithoutResult(status -> {
                        stock.sellInCallersTransaction();
                        manager.commitElsewhere();
                        assertThat(client.inspect("stock").isLocked()).isTrue();
                    });
                    assertThat(client.inspect("stock").isLocked()).isTrue();
                    manager.commitElsewhere();
                    assertThat(client.inspect("stock").isLocked()).isFalse();
                    assertThat(client.localLocks()).isEmpty();
                },
                ForeignTransaction.class,
                DefaultOrder.class);
    }

    /** Of an unknown outcome it is not known that nothing was done. */
    @Test
    void a_loss_is_told_unless_the_transaction_was_rolled_back() {
        run(
                context -> {
                    LockClient client = context.getBean(LockClient.class);
                    Stock stock = context.getBean(Stock.class);
                    Foreign manager = context.getBean(Foreign.class);
                    for (int status : new int[] {
                        TransactionSynchronization.STATUS_COMMITTED,
                        TransactionSynchronization.STATUS_UNKNOWN,
                        TransactionSynchronization.STATUS_ROLLED_BACK
                    }) {
                        new TransactionTemplate(manager)
                                .executeWithoutResult(scope -> stock.sellInCallersTransaction());
                        client.forceRelease("stock");
                        org.awaitility.Awaitility.await()
                                .until(() -> client.localLocks().isEmpty());
                        Throwable told = catchThrowable(() -> manager.end(status));
                        if (status == TransactionSynchronization.STATUS_ROLLED_BACK) {
                            assertThat(told).isNull();
                        } else {
                            assertThat(told).as("status " + status).isInstanceOf(LeaseLostException.class);
                            manager.atTheEnd.clear();
                        }
                    }
                },
                ForeignTransaction.class,
                DefaultOrder.class);
    }

    private static void run(
            org.springframework.boot.test.context.runner.ContextConsumer<
                            org.springframework.boot.test.context.assertj.AssertableApplicationContext>
                    test,
            Class<?>... configurations) {
        Contexts.memory("transactions").withUserConfiguration(configurations).run(context -> {
            assertThat(context).hasNotFailed();
            test.accept(context);
        });
    }
}
