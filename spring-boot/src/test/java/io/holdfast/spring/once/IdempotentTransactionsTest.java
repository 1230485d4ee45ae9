package io.holdfast.spring.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.spring.Idempotent;
import io.holdfast.spring.OnceRecord;
import io.holdfast.spring.boot.Contexts;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** That the key is committed with the work, whatever the transaction of the caller is. */
class IdempotentTransactionsTest {

    private final String id = UUID.randomUUID().toString();

    @Entity(name = "done")
    public static class Done {
        @Id
        String id;
    }

    public static class Work {

        @PersistenceContext
        private EntityManager entities;

        @Idempotent(name = "work", key = "#id")
        public int entity(String id) {
            Done done = new Done();
            done.id = id;
            entities.persist(done);
            return 1;
        }

        @Idempotent(name = "stored", key = "#id", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public int stored(String id) {
            return 1;
        }
    }

    public static class Timed extends Work {

        @Idempotent(name = "timed", key = "#id")
        @Transactional(timeoutString = "${seconds:20}", transactionManager = "${manager:transactions}")
        public int timed(String id) {
            return entity(id);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Database {

        @Bean
        HikariDataSource dataSource(org.springframework.core.env.Environment environment) throws SQLException {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl("jdbc:h2:mem:" + environment.getProperty("database") + ";DB_CLOSE_DELAY=-1");
            pool.setMaximumPoolSize(4);
            pool.setAutoCommit(environment.getProperty("auto-commit", Boolean.class, true));
            try (Connection connection = pool.getConnection()) {
                JdbcOnce.defaults().createTable(connection);
                connection.createStatement().execute("CREATE TABLE IF NOT EXISTS done (id VARCHAR(100) PRIMARY KEY)");
                if (!connection.getAutoCommit()) {
                    connection.commit();
                }
            }
            return pool;
        }

        @Bean
        LocalContainerEntityManagerFactoryBean entityManagerFactory(@Qualifier("dataSource") DataSource database) {
            return Contexts.jpa(database, IdempotentTransactionsTest.class);
        }

        @Bean
        PlatformTransactionManager transactions(EntityManagerFactory factory) {
            return new JpaTransactionManager(factory);
        }

        @Bean
        TransactionTemplate template(PlatformTransactionManager manager) {
            return new TransactionTemplate(manager);
        }

        @Bean
        Work work() {
            return new Work();
        }
    }

    private ApplicationContextRunner context() {
        return OnceContexts.json(Contexts.memory("transactions" + id))
                .withPropertyValues("database=transactions" + id)
                .withUserConfiguration(Database.class);
    }

    private String state(DataSource source) {
        JdbcTemplate jdbc = new JdbcTemplate(source);
        return jdbc.queryForObject("SELECT COUNT(*) FROM holdfast_once", Integer.class) + " keys, "
                + jdbc.queryForObject("SELECT COUNT(*) FROM done", Integer.class) + " done";
    }

    private static void registered(Function<Runnable, TransactionSynchronization> phase, Runnable... calls) {
        for (Runnable call : calls) {
            TransactionSynchronizationManager.registerSynchronization(phase.apply(call));
        }
    }

    private static TransactionSynchronization afterCommit(Runnable call) {
        return new TransactionSynchronization() {
            @Override
            public void afterCommit() {
                call.run();
            }
        };
    }

    private static TransactionSynchronization afterCompletion(Runnable call) {
        return new TransactionSynchronization() {
            @Override
            public void afterCompletion(int status) {
                call.run();
            }
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"commit true", "commit false", "completion true", "completion false"})
    void a_call_after_the_callers_commit_commits_key_and_work(String when) {
        boolean commit = when.startsWith("commit");
        List<Integer> results = new ArrayList<>();
        context().withPropertyValues("auto-commit=" + when.endsWith("true")).run(started -> {
            Work work = started.getBean("work", Work.class);
            started.getBean(TransactionTemplate.class)
                    .executeWithoutResult(status -> registered(
                            commit
                                    ? IdempotentTransactionsTest::afterCommit
                                    : IdempotentTransactionsTest::afterCompletion,
                            () -> results.add(work.entity(id)),
                            () -> results.add(work.entity(id + 2))));
            assertThat(results).containsExactly(1, 1);
            assertThat(state(started.getBean(DataSource.class))).isEqualTo("2 keys, 2 done");
        });
    }

    @Test
    void a_record_in_the_store_after_the_callers_commit() {
        context().run(started -> {
            Work work = started.getBean("work", Work.class);
            int[] result = {0};
            started.getBean(TransactionTemplate.class)
                    .executeWithoutResult(status ->
                            registered(IdempotentTransactionsTest::afterCommit, () -> result[0] = work.stored(id)));
            assertThat(result[0]).isEqualTo(1);
        });
    }

    @Test
    void placeholders_in_transactional() {
        context().withBean("timed", Timed.class).run(started -> {
            assertThat(started).hasNotFailed();
            started.getBean(Timed.class).timed(id);
            assertThat(state(started.getBean(DataSource.class))).isEqualTo("1 keys, 1 done");
        });
    }

    @Test
    void a_read_only_caller() {
        context().run(started -> {
            Work work = started.getBean("work", Work.class);
            TransactionTemplate reading = new TransactionTemplate(started.getBean(PlatformTransactionManager.class));
            reading.setReadOnly(true);
            assertThatThrownBy(() -> reading.executeWithoutResult(status -> work.entity(id)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("entity(String) is called inside a read-only transaction");
            assertThat(state(started.getBean(DataSource.class))).isEqualTo("0 keys, 0 done");
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class SecondDatabase {

        @Bean
        @Primary
        HikariDataSource first(org.springframework.core.env.Environment environment) throws SQLException {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl("jdbc:h2:mem:first" + environment.getProperty("database") + ";DB_CLOSE_DELAY=-1");
            pool.setAutoCommit(false);
            try (Connection connection = pool.getConnection()) {
                JdbcOnce.defaults().createTable(connection);
                connection.commit();
            }
            return pool;
        }
    }

    @Test
    void two_databases() {
        context()
                .withPropertyValues("auto-commit=false")
                .withUserConfiguration(SecondDatabase.class)
                .run(started -> {
                    Work work = started.getBean("work", Work.class);
                    work.entity(id);
                    work.entity(id);
                    assertThat(state(started.getBean("dataSource", DataSource.class)))
                            .isEqualTo("1 keys, 1 done");
                });
    }
}
