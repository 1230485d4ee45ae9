package io.holdfast.spring.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.LockClient;
import io.holdfast.spring.LockTemplate;
import io.holdfast.spring.Locked;
import io.holdfast.spring.LogLines;
import io.holdfast.spring.boot.Contexts;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A lock that is acquired inside a transaction whose snapshot may be older than the lock. */
class OuterTransactionTest {

    private final ApplicationContextRunner application = Contexts.memory("outer-" + UUID.randomUUID())
            .withPropertyValues("database=" + UUID.randomUUID(), "level=TRANSACTION_READ_COMMITTED")
            .withUserConfiguration(Jdbc.class);

    public static class Refunds {

        @Locked("refund")
        @Transactional
        public void refund(Runnable work) {
            work.run();
        }

        @Locked("refund")
        public void again() {}

        @Locked("audit")
        @Transactional(propagation = Propagation.REQUIRES_NEW, timeoutString = "${seconds:20}")
        public void apart() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(proxyTargetClass = true)
    static class Beans {

        @Bean
        Refunds refunds() {
            return new Refunds();
        }
    }

    /** Counts how often the level is asked for: some drivers ask the database. */
    static final class Asked extends DelegatingDataSource {

        final AtomicInteger times = new AtomicInteger();

        Asked(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws java.sql.SQLException {
            Connection target = super.getConnection();
            return (Connection) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {Connection.class}, (self, method, arguments) -> {
                        if (method.getName().equals("getTransactionIsolation")) {
                            times.incrementAndGet();
                        }
                        try {
                            return method.invoke(target, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getTargetException();
                        }
                    });
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Jdbc extends Beans {

        @Bean
        Asked dataSource(Environment environment) {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl("jdbc:h2:mem:" + environment.getProperty("database") + ";DB_CLOSE_DELAY=-1");
            pool.setTransactionIsolation(environment.getProperty("level"));
            return new Asked(pool);
        }

        @Bean
        PlatformTransactionManager transactions(DataSource database) {
            return new DataSourceTransactionManager(database);
        }
    }

    private static void outer(ApplicationContext context, int level, Runnable work) {
        TransactionTemplate outer = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
        outer.setIsolationLevel(level);
        outer.executeWithoutResult(status -> work.run());
    }

    private static LogLines log() {
        return new LogLines(OuterTransactions.class);
    }

    @Test
    void it_is_a_warning_once_for_each_method() {
        application.run(context -> {
            Refunds refunds = context.getBean(Refunds.class);
            try (LogLines log = log()) {
                for (int i = 0; i < 2; i++) {
                    outer(context, TransactionDefinition.ISOLATION_REPEATABLE_READ, () -> refunds.refund(() -> {}));
                }
                assertThat(log.lines())
                        .singleElement()
                        .asString()
                        .startsWith("WARNING @Locked on")
                        .contains("Refunds.refund(", "isolation REPEATABLE READ", "holdfast.outer-transaction");
                outer(context, TransactionDefinition.ISOLATION_SERIALIZABLE, refunds::again);
                assertThat(log.lines()).hasSize(2).last().asString().contains("Refunds.again(", "SERIALIZABLE");
            }
        });
    }

    /** Spring does not know the level that a database has by default, as REPEATABLE READ on MySQL. */
    @Test
    void the_default_level_is_that_of_the_connection_which_is_asked_once() {
        application.withPropertyValues("level=TRANSACTION_REPEATABLE_READ").run(context -> {
            Refunds refunds = context.getBean(Refunds.class);
            try (LogLines log = log()) {
                outer(context, TransactionDefinition.ISOLATION_DEFAULT, () -> refunds.refund(() -> {}));
                outer(context, TransactionDefinition.ISOLATION_DEFAULT, refunds::again);
                assertThat(log.lines()).hasSize(2);
                assertThat(context.getBean(Asked.class).times).hasValue(1);
            }
        });
    }

    /** Spring still shows the transaction as active, but what is read then is not in its snapshot. */
    @Test
    void there_is_no_word_in_the_callbacks_after_the_commit() {
        application.withPropertyValues("holdfast.outer-transaction=refuse").run(context -> {
            Refunds refunds = context.getBean(Refunds.class);
            AtomicInteger calls = new AtomicInteger();
            outer(
                    context,
                    TransactionDefinition.ISOLATION_REPEATABLE_READ,
                    () -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                        @Override
                        public void afterCommit() {
                            refunds.again();
                            calls.incrementAndGet();
                        }
                    }));
            assertThat(calls).hasValue(1);
        });
    }

    @Test
    void the_template_is_a_caller_too() {
        application.run(context -> {
            LockTemplate locks = context.getBean(LockTemplate.class);
            try (LogLines log = log()) {
                for (int i = 0; i < 2; i++) {
                    String name = "refund:" + i;
                    outer(
                            context,
                            TransactionDefinition.ISOLATION_REPEATABLE_READ,
                            () -> locks.executeWithoutResult(name, lease -> {}));
                }
                assertThat(log.lines()).singleElement().asString().contains("LockTemplate (lock \"refund\")");
            }
        });
    }

    @Test
    void there_is_no_word_where_the_reads_are_not_older_than_the_lock() {
        application.run(context -> {
            Refunds refunds = context.getBean(Refunds.class);
            try (LogLines log = log()) {
                outer(context, TransactionDefinition.ISOLATION_READ_COMMITTED, refunds::again);
                outer(context, TransactionDefinition.ISOLATION_DEFAULT, refunds::again);
                refunds.again();
                // The nested call does not acquire.
                refunds.refund(() -> outer(context, TransactionDefinition.ISOLATION_DEFAULT, refunds::again));
                // The method has a transaction of its own, which begins under the lock.
                outer(context, TransactionDefinition.ISOLATION_REPEATABLE_READ, refunds::apart);
                assertThat(log.lines()).isEmpty();
            }
        });
    }

    @Test
    void a_nested_call_under_the_lock_does_not_acquire() {
        application.withPropertyValues("level=TRANSACTION_REPEATABLE_READ").run(context -> {
            Refunds refunds = context.getBean(Refunds.class);
            try (LogLines log = log()) {
                refunds.refund(refunds::again);
                assertThat(log.lines()).isEmpty();
            }
        });
    }

    @Test
    void it_is_refused_on_demand_before_the_lock_is_acquired() {
        application.withPropertyValues("holdfast.outer-transaction=refuse").run(context -> {
            Refunds refunds = context.getBean(Refunds.class);
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> outer(
                                context,
                                TransactionDefinition.ISOLATION_REPEATABLE_READ,
                                () -> refunds.refund(() -> {
                                    throw new AssertionError("it ran");
                                })))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("isolation REPEATABLE READ");
            }
            assertThat(context.getBean(LockClient.class).inspect("refund").isLocked())
                    .isFalse();
            outer(context, TransactionDefinition.ISOLATION_READ_COMMITTED, refunds::again);
        });
    }

    @Test
    void it_is_ignored_on_demand() {
        application.withPropertyValues("holdfast.outer-transaction=ignore").run(context -> {
            try (LogLines log = log()) {
                outer(context, TransactionDefinition.ISOLATION_REPEATABLE_READ, context.getBean(Refunds.class)::again);
                assertThat(log.lines()).isEmpty();
            }
        });
    }

    /** As transactions of MongoDB or JMS. */
    @Configuration(proxyBeanMethods = false)
    static class WithoutJdbc extends Beans {

        @Bean
        PlatformTransactionManager transactions() {
            return new AbstractPlatformTransactionManager() {
                @Override
                protected Object doGetTransaction() {
                    return new Object();
                }

                @Override
                protected void doBegin(Object transaction, TransactionDefinition definition) {}

                @Override
                protected void doCommit(DefaultTransactionStatus status) {}

                @Override
                protected void doRollback(DefaultTransactionStatus status) {}
            };
        }
    }

    @Test
    void without_a_jdbc_connection_the_default_level_is_not_known() {
        Contexts.memory("outer-" + UUID.randomUUID())
                .withUserConfiguration(WithoutJdbc.class)
                .withPropertyValues("holdfast.outer-transaction=refuse")
                .run(context ->
                        outer(context, TransactionDefinition.ISOLATION_DEFAULT, context.getBean(Refunds.class)::again));
    }

    /** What it is about: the lock works, and the second refund is made all the same. */
    @Test
    void the_snapshot_of_the_outer_transaction_misses_the_work_of_the_last_holder() {
        application.run(context -> {
            JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
            jdbc.execute("CREATE TABLE refunds (id INT)");
            Refunds refunds = context.getBean(Refunds.class);
            outer(context, TransactionDefinition.ISOLATION_REPEATABLE_READ, () -> {
                jdbc.queryForList("SELECT * FROM refunds");
                Thread other = new Thread(() -> refunds.refund(() -> jdbc.update("INSERT INTO refunds VALUES (1)")));
                other.start();
                try {
                    other.join();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                refunds.refund(() ->
                        assertThat(jdbc.queryForList("SELECT * FROM refunds")).isEmpty());
            });
        });
    }
}
