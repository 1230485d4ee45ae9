package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.jdbc.JdbcGuard;
import io.holdfast.memory.MemoryLockStoreProvider;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.spring.Limited;
import io.holdfast.spring.Locked;
import io.holdfast.spring.LogLines;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** {@code holdfast.guard.enabled}: transactions inside of locked methods begin with the check, by every library. */
class DataSourceGuardTest {

    private final String name = UUID.randomUUID().toString();

    private final ApplicationContextRunner application = Contexts.memory("guard-" + name)
            .withConfiguration(AutoConfigurations.of(HoldfastGuardAutoConfiguration.class))
            .withPropertyValues("holdfast.guard.enabled=true", "database=" + name);

    /** What an application has. The order can be refunded once; the check for that and the refund are a transaction. */
    public static class Refunds {

        private final JdbcTemplate jdbc;
        private volatile CountDownLatch started = new CountDownLatch(0);
        private volatile CountDownLatch resumed = new CountDownLatch(0);

        @PersistenceContext
        private EntityManager entities;

        Refunds(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        /** Stops the next calls after the begin of their transactions. */
        public void stopAt(CountDownLatch started, CountDownLatch resumed) {
            this.started = started;
            this.resumed = resumed;
        }

        private void pause() throws InterruptedException {
            started.countDown();
            resumed.await();
        }

        @Locked("refund")
        @Transactional
        public void byTemplate(int id) throws InterruptedException {
            pause();
            if (jdbc.queryForList("SELECT id FROM refund WHERE id = ?", id).isEmpty()) {
                jdbc.update("INSERT INTO refund VALUES (?)", id);
            }
        }

        /** For a refund that was decided on before the transaction. */
        @Locked("refund")
        @Transactional
        public void byInsert(int id) throws InterruptedException {
            pause();
            jdbc.update("INSERT INTO refund VALUES (?)", id);
        }

        @Locked("refund")
        @Transactional
        public void byEntity(int id) throws InterruptedException {
            pause();
            if (entities.find(Refund.class, id) == null) {
                Refund refund = new Refund();
                refund.id = id;
                entities.persist(refund);
            }
        }

        @Locked("refund")
        @Transactional
        public void swallows(int id) throws InterruptedException {
            pause();
            try {
                jdbc.update("INSERT INTO refund VALUES (?)", id);
            } catch (RuntimeException e) {
                // As some applications do: log and go on.
            }
        }

        @Locked("read")
        @Transactional(readOnly = true)
        public int reads() {
            return count(jdbc);
        }

        @Limited(name = "refunds", permits = "2")
        @Locked("refund")
        @Transactional
        public void limited(int id) {
            jdbc.update("INSERT INTO refund VALUES (?)", id);
        }

        @Limited(name = "refunds", permits = "2")
        @Transactional
        public void onlyLimited(int id) {
            jdbc.update("INSERT INTO refund VALUES (?)", id);
        }

        @Locked("no transaction")
        public void writesWithoutTransaction(int id) {
            jdbc.update("INSERT INTO refund VALUES (?)", id);
        }

        @Transactional
        public void withoutLock(int id) {
            jdbc.update("INSERT INTO refund VALUES (?)", id);
        }
    }

    public static class Outer {

        private final Refunds refunds;
        private final JdbcTemplate jdbc;
        private final Inner inner;

        Outer(Refunds refunds, JdbcTemplate jdbc, Inner inner) {
            this.refunds = refunds;
            this.jdbc = jdbc;
            this.inner = inner;
        }

        @Locked("refund")
        @Transactional
        public void withInner(int id) throws InterruptedException {
            jdbc.update("INSERT INTO refund VALUES (?)", id);
            inner.inNewTransaction(id + 1);
            refunds.byTemplate(id + 2);
        }
    }

    public static class Inner {

        private final JdbcTemplate jdbc;

        Inner(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Locked("refund")
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public void inNewTransaction(int id) {
            jdbc.update("INSERT INTO refund VALUES (?)", id);
        }
    }

    @Entity(name = "refund")
    public static class Refund {
        @Id
        int id;
    }

    @Configuration(proxyBeanMethods = false)
    static class Database {

        @Bean
        HikariDataSource dataSource(org.springframework.core.env.Environment environment) throws SQLException {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl("jdbc:h2:mem:" + environment.getProperty("database") + ";DB_CLOSE_DELAY=-1");
            pool.setMaximumPoolSize(4);
            try (Connection connection = pool.getConnection()) {
                JdbcGuard.defaults().createTable(connection);
                connection.createStatement().execute("CREATE TABLE refund (id INT)");
            }
            return pool;
        }

        @Bean
        JdbcTemplate jdbc(DataSource database) {
            return new JdbcTemplate(database);
        }

        @Bean
        LocalContainerEntityManagerFactoryBean entityManagerFactory(DataSource database) {
            return Contexts.jpa(database, Refund.class);
        }

        @Bean
        Refunds refunds(JdbcTemplate jdbc) {
            return new Refunds(jdbc);
        }

        @Bean
        Inner inner(JdbcTemplate jdbc) {
            return new Inner(jdbc);
        }

        @Bean
        Outer outer(Refunds refunds, JdbcTemplate jdbc, Inner inner) {
            return new Outer(refunds, jdbc, inner);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(proxyTargetClass = true)
    static class ByJdbc extends Database {
        @Bean
        PlatformTransactionManager transactions(DataSource database) {
            return new DataSourceTransactionManager(database);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(proxyTargetClass = true)
    static class ByJpa extends Database {
        @Bean
        PlatformTransactionManager transactions(EntityManagerFactory factory) {
            return new JpaTransactionManager(factory);
        }
    }

    private static int count(JdbcTemplate jdbc) {
        Integer count = jdbc.queryForObject("SELECT COUNT(*) FROM refund", Integer.class);
        return count == null ? -1 : count;
    }

    private static int checkedNames(JdbcTemplate jdbc) {
        return jdbc.queryForList("SELECT name FROM holdfast_guard").size();
    }

    private static Class<?> configuration(String manager) {
        return manager.equals("JPA") ? ByJpa.class : ByJdbc.class;
    }

    private interface Call {
        void run(Refunds refunds) throws InterruptedException;
    }

    /**
     * Stops an old holder after the begin of its transaction, while the new holder, which is another process, refunds
     * the order 1. Returns how the old one ends, which has not noticed that it lost its lease.
     */
    private CompletableFuture<Void> oldHolder(ApplicationContext context, Call call) throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch resumed = new CountDownLatch(1);
        Refunds refunds = context.getBean(Refunds.class);
        refunds.stopAt(started, resumed);
        CompletableFuture<Void> old = CompletableFuture.runAsync(() -> {
            try {
                call.run(refunds);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        assertThat(started.await(30, TimeUnit.SECONDS)).isTrue();
        String uri = "memory:guard-" + name;
        try (LockClient other = LockClient.connect(uri);
                LockStore store = new MemoryLockStoreProvider()
                        .open(URI.create(uri), new StoreContext("silent", TimeSource.system()))) {
            // Not by force, which would tell the old holder.
            String holder = other.inspect("refund").holder().orElseThrow();
            assertThat(store.abandon("refund", holder).toCompletableFuture().join())
                    .isTrue();
            try (Lease lease = other.acquire("refund");
                    Connection connection = DriverManager.getConnection("jdbc:h2:mem:" + name)) {
                connection.setAutoCommit(false);
                JdbcGuard.defaults().check(connection, lease);
                connection.createStatement().execute("INSERT INTO refund VALUES (1)");
                connection.commit();
            }
        }
        resumed.countDown();
        return old;
    }

    /** The guard refuses a lease whose token does not fence. */
    @Test
    void permits_are_not_checked_and_a_lock_beside_them_is() {
        application.withUserConfiguration(ByJdbc.class).run(context -> {
            Refunds refunds = context.getBean(Refunds.class);
            JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
            refunds.onlyLimited(1);
            assertThat(checkedNames(jdbc)).isZero();
            refunds.limited(2);
            assertThat(count(jdbc)).isEqualTo(2);
            assertThat(checkedNames(jdbc)).isEqualTo(1);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"JDBC", "JPA"})
    void the_old_holder_is_refused_by_its_first_statement(String manager) {
        application.withUserConfiguration(configuration(manager)).run(context -> {
            Refunds refunds = context.getBean(Refunds.class);
            JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
            CompletableFuture<Void> old = oldHolder(context, r -> r.byInsert(1));
            assertThatThrownBy(() -> old.get(30, TimeUnit.SECONDS))
                    .hasRootCauseInstanceOf(LeaseLostException.class)
                    .hasStackTraceContaining("is older than the last one in holdfast_guard");
            assertThat(count(jdbc)).isEqualTo(1);
            assertThat(checkedNames(jdbc)).isEqualTo(1);
            // Nothing is left on the threads and in the pool.
            refunds.byTemplate(2);
            assertThat(count(jdbc)).isEqualTo(2);
        });
    }

    @Test
    void without_the_guard_the_same_schedule_refunds_twice() {
        application
                .withUserConfiguration(ByJdbc.class)
                .withPropertyValues("holdfast.guard.enabled=false")
                .run(context -> {
                    CompletableFuture<Void> old = oldHolder(context, r -> r.byInsert(1));
                    // The caller learns of the loss by the release, when both refunds are committed.
                    assertThatThrownBy(() -> old.get(30, TimeUnit.SECONDS))
                            .hasRootCauseInstanceOf(LeaseLostException.class)
                            .hasStackTraceContaining("at its release");
                    assertThat(count(context.getBean(JdbcTemplate.class))).isEqualTo(2);
                });
    }

    @Test
    void so_it_is_with_entities() {
        application.withUserConfiguration(ByJpa.class).run(context -> {
            CompletableFuture<Void> old = oldHolder(context, r -> r.byEntity(1));
            assertThatThrownBy(() -> old.get(30, TimeUnit.SECONDS))
                    .hasRootCauseInstanceOf(LeaseLostException.class)
                    .hasStackTraceContaining("is older than the last one in holdfast_guard");
            assertThat(count(context.getBean(JdbcTemplate.class))).isEqualTo(1);
        });
    }

    @Test
    void a_refusal_that_the_method_swallows_is_not_committed() {
        application.withUserConfiguration(ByJdbc.class).run(context -> {
            CompletableFuture<Void> old = oldHolder(context, r -> r.swallows(1));
            assertThatThrownBy(() -> old.get(30, TimeUnit.SECONDS))
                    .hasStackTraceContaining("must be rolled back")
                    .isNotInstanceOf(UnexpectedRollbackException.class);
            assertThat(count(context.getBean(JdbcTemplate.class))).isEqualTo(1);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"JDBC", "JPA"})
    void nested_and_new_transactions_do_not_wait_for_themselves(String manager) {
        application.withUserConfiguration(configuration(manager)).run(context -> {
            context.getBean(Outer.class).withInner(1);
            assertThat(count(context.getBean(JdbcTemplate.class))).isEqualTo(3);
        });
    }

    @Test
    void read_only_transactions_and_those_without_a_lock_are_not_checked() {
        application.withUserConfiguration(ByJdbc.class).run(context -> {
            Refunds refunds = context.getBean(Refunds.class);
            refunds.withoutLock(1);
            refunds.writesWithoutTransaction(2);
            assertThat(refunds.reads()).isEqualTo(2);
            assertThat(checkedNames(context.getBean(JdbcTemplate.class))).isZero();
        });
    }

    @Test
    void the_data_source_keeps_its_type_and_settings_reach_the_guard() {
        application
                .withUserConfiguration(ByJdbc.class)
                .withPropertyValues("holdfast.guard.epoch=7")
                .run(context -> {
                    assertThat(context.getBean(HikariDataSource.class).getMaximumPoolSize())
                            .isEqualTo(4);
                    context.getBean(Refunds.class).byTemplate(1);
                    assertThat(context.getBean(JdbcTemplate.class)
                                    .queryForObject("SELECT epoch FROM holdfast_guard", Integer.class))
                            .isEqualTo(7);
                });
    }

    @Test
    void what_cannot_be_guarded_stops_the_start() {
        application.run(context ->
                assertThat(context.getStartupFailure()).hasStackTraceContaining("there is no DataSource bean"));
        application
                .withUserConfiguration(ByJdbc.class)
                .withClassLoader(new FilteredClassLoader("io.holdfast.jdbc"))
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining("holdfast-jdbc is not on the class path"));
        application
                .withUserConfiguration(ByJdbc.class)
                .withPropertyValues("holdfast.guard.table=a b")
                .run(context -> assertThat(context.getStartupFailure()).hasStackTraceContaining("table \"a b\""));
    }

    /** Without the table, every transaction under a lock would fail. */
    @Test
    void a_guard_without_its_table_stops_the_start_with_the_statement_that_makes_it() {
        application
                .withUserConfiguration(WithoutTable.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining(
                                "holdfast.guard.enabled, DataSource dataSource: The guard's table holdfast_guard"
                                        + " is not in the database (expected: a migration with the statement CREATE TABLE")
                        .satisfies(failure -> assertThat(new LockSettingsFailureAnalyzer().analyze(failure))
                                .extracting(FailureAnalysis::getAction)
                                .asString()
                                .contains("holdfast.startup=lazy")));
    }

    @Test
    void with_a_lazy_start_the_statement_that_fails_names_the_table() {
        application
                .withUserConfiguration(WithoutTable.class)
                .withPropertyValues("holdfast.startup=lazy")
                .run(context -> assertThatThrownBy(
                                () -> context.getBean(Inner.class).inNewTransaction(1))
                        .hasStackTraceContaining("The guard's table holdfast_guard is not in the database")
                        .hasStackTraceContaining("CREATE TABLE IF NOT EXISTS holdfast_guard (lock_key"));
    }

    /** As Flyway and Liquibase do, when their beans are made. */
    @Test
    void the_table_may_be_made_by_a_migration_at_the_start() {
        application
                .withUserConfiguration(WithoutTable.class)
                .withBean("zMigration", Migration.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    context.getBean(Inner.class).inNewTransaction(1);
                });
    }

    /** Their migrations have not run at the start. */
    @Test
    void lazy_data_sources_are_not_asked() {
        application
                .withUserConfiguration(WithoutTable.class)
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .withBean("eager", DataSource.class, () -> new DriverManagerDataSource("jdbc:h2:mem:no-table"))
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void a_database_that_cannot_be_reached_is_a_warning() {
        try (LogLines log = new LogLines(GuardTables.class)) {
            application
                    .withBean("dataSource", DataSource.class, () -> new DriverManagerDataSource("jdbc:none:x"))
                    .run(context -> assertThat(context).hasNotFailed());
            assertThat(log.lines())
                    .singleElement()
                    .asString()
                    .startsWith(
                            "WARNING The guard's table could not be looked for in the DataSource dataSource: java.sql");
        }
    }

    /** It may pass, and refusing the start would keep the application down until then. */
    @Test
    void a_question_that_fails_for_another_reason_is_a_warning() {
        String url = "jdbc:h2:mem:" + name + "-rights";
        JdbcTemplate owner = new JdbcTemplate(new DriverManagerDataSource(url + ";DB_CLOSE_DELAY=-1"));
        owner.execute((ConnectionCallback<Void>) connection -> {
            JdbcGuard.defaults().createTable(connection);
            return null;
        });
        owner.execute("CREATE USER stranger PASSWORD ''");
        try (LogLines log = new LogLines(GuardTables.class)) {
            application
                    .withBean("dataSource", DataSource.class, () -> new DriverManagerDataSource(url, "stranger", ""))
                    .run(context -> assertThat(context).hasNotFailed());
            assertThat(log.lines())
                    .singleElement()
                    .asString()
                    .startsWith("WARNING The guard's table could not be looked for in the DataSource dataSource: ")
                    .contains("Not enough rights");
        }
    }

    static class Migration {
        Migration(DataSource database) throws SQLException {
            try (Connection connection = database.getConnection()) {
                JdbcGuard.defaults().createTable(connection);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(proxyTargetClass = true)
    static class WithoutTable {

        @Bean
        DriverManagerDataSource dataSource(org.springframework.core.env.Environment environment) {
            DriverManagerDataSource source = new DriverManagerDataSource(
                    "jdbc:h2:mem:" + environment.getProperty("database") + "-bare;DB_CLOSE_DELAY=-1");
            new JdbcTemplate(source).execute("CREATE TABLE IF NOT EXISTS refund (id INT)");
            return source;
        }

        @Bean
        Inner inner(DataSource database) {
            return new Inner(new JdbcTemplate(database));
        }

        @Bean
        PlatformTransactionManager transactions(DataSource database) {
            return new DataSourceTransactionManager(database);
        }
    }

    /** As a data source of a server's JNDI, which nothing has asked for at the end of the start. */
    @Test
    void the_product_of_a_factory_bean_is_guarded() {
        application
                .withBean("dataSource", LateDataSource.class)
                .withPropertyValues("holdfast.startup=lazy")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .getBean(DataSource.class)
                        .isInstanceOf(Advised.class));
    }

    static class LateDataSource implements FactoryBean<DataSource> {

        @Override
        public DataSource getObject() {
            return new DriverManagerDataSource("jdbc:h2:mem:late");
        }

        @Override
        public Class<?> getObjectType() {
            return DataSource.class;
        }
    }

    @Test
    void it_is_off_by_default() {
        application
                .withUserConfiguration(ByJdbc.class)
                .withPropertyValues("holdfast.guard.enabled=false")
                .run(context -> {
                    context.getBean(Refunds.class).byTemplate(1);
                    assertThat(checkedNames(context.getBean(JdbcTemplate.class)))
                            .isZero();
                });
    }
}
