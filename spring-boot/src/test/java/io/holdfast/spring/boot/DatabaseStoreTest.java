package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spring.Locked;
import io.holdfast.testkit.servers.RedisServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** Locks in the application's database: {@code holdfast.store=datasource}, and where there is no Redis. */
class DatabaseStoreTest {

    private static final String COUNT = "SELECT COUNT(*) FROM holdfast_lock WHERE name = ? AND holder <> ''";

    private final String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

    /** Without Redis. */
    private final ApplicationContextRunner database = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(Contexts.configurations(
                    "org.springframework.boot.autoconfigure.aop.AopAutoConfiguration",
                    "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
                    "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
                    "org.springframework.boot.jdbc.autoconfigure.DataSourceInitializationAutoConfiguration",
                    "org.springframework.boot.autoconfigure.sql.init.SqlInitializationAutoConfiguration",
                    HoldfastAutoConfiguration.class.getName())));

    private final ApplicationContextRunner application =
            database.withPropertyValues("spring.datasource.url=" + url, "spring.datasource.username=sa");

    static class Work {
        private final DataSource source;

        Work(DataSource source) {
            this.source = source;
        }

        @Locked("work")
        public Integer holds() {
            return new JdbcTemplate(source).queryForObject(COUNT, Integer.class, "work");
        }
    }

    @Test
    void an_application_with_a_database_and_no_redis_needs_no_setting() {
        application.withBean(Work.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(LockClient.class).describeStore()).isEqualTo(url.replaceAll(";.*", ""));
            assertThat(context.getBean(Work.class).holds()).isEqualTo(1);
            LockHealth health = LockHealth.of(Map.of("c", context.getBean(LockClient.class)));
            assertThat(health.up()).isTrue();
            assertThat(health.details()).containsEntry("database", url.replaceAll(";.*", ""));
        });
    }

    /** A lock that needed one could not be released while its waiters have all connections. */
    @Test
    void the_pool_lends_no_connection_to_the_locks() {
        application
                .withBean(Work.class)
                .withPropertyValues("spring.datasource.hikari.maximum-pool-size=1", "holdfast.wait-time=5s")
                .run(context -> {
                    try (Connection only = context.getBean(DataSource.class).getConnection();
                            Lease lease = context.getBean(LockClient.class).acquire("a")) {
                        assertThat(only.isValid(1)).isTrue();
                        assertThat(lease.isValid()).isTrue();
                    }
                });
    }

    @Test
    void redis_is_used_if_both_are_there_unless_the_setting_says_otherwise() {
        try (RedisServer server = RedisServer.start()) {
            ApplicationContextRunner both = Contexts.boot()
                    .withBean(DataSource.class, () -> new DriverManagerDataSource(url))
                    .withPropertyValues("spring.data.redis.port=" + server.port());
            both.run(context -> assertThat(context.getBean(LockClient.class).describeStore())
                    .startsWith("redis://"));
            both.withPropertyValues("holdfast.store=datasource")
                    .run(context -> assertThat(context.getBean(LockClient.class).describeStore())
                            .startsWith("jdbc:h2:mem:"));
        }
    }

    /** The script of the jar is a location for Boot, too. */
    @Test
    void the_client_waits_for_the_scripts_that_make_its_tables() {
        ApplicationContextRunner never = application.withPropertyValues("holdfast.create-table=false");
        FailureAnalysis missing = refused(never);
        assertThat(missing.getDescription()).contains("holdfast_lock", "CREATE TABLE");
        assertThat(missing.getAction()).contains("holdfast.create-table=true");
        never.withPropertyValues("spring.sql.init.schema-locations=classpath:io/holdfast/sql/h2.sql")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(LockClient.class).tryAcquire("a"))
                            .isPresent();
                    assertThat(dependencies(context)).contains("dataSourceScriptDatabaseInitializer");
                });
    }

    /** So a migration may use locks. */
    @Test
    void a_client_of_another_store_waits_for_no_migration() {
        application
                .withPropertyValues("holdfast.store=memory:other")
                .run(context -> assertThat(dependencies(context)).isEmpty());
    }

    private static String[] dependencies(AssertableApplicationContext context) {
        ConfigurableListableBeanFactory beans =
                context.getSourceApplicationContext().getBeanFactory();
        String[] names =
                beans.getBeanDefinition(HoldfastAutoConfiguration.CLIENT).getDependsOn();
        return names == null ? new String[0] : names;
    }

    @Test
    void one_of_several_data_sources_is_named() {
        String second = url.replace("mem:", "mem:second-");
        ApplicationContextRunner two = database.withBean(
                        "first", DataSource.class, () -> new DriverManagerDataSource(url))
                .withBean("second", DataSource.class, () -> new DriverManagerDataSource(second));
        FailureAnalysis several = refused(two);
        assertThat(several.getDescription()).contains("several DataSource beans", "first", "second");
        assertThat(several.getAction()).contains("holdfast.datasource");
        two.withPropertyValues("holdfast.datasource=second").run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(LockClient.class).describeStore()).startsWith("jdbc:h2:mem:second-");
        });
        FailureAnalysis unknown = refused(two.withPropertyValues("holdfast.datasource=third"));
        assertThat(unknown.getDescription()).contains("\"third\"");
        assertThat(unknown.getAction()).contains("first, second");
    }

    @Test
    void a_password_is_used_and_never_shown() {
        String file = "jdbc:h2:mem:" + UUID.randomUUID();
        try (HikariDataSource keeper = new HikariDataSource()) {
            keeper.setJdbcUrl(file);
            keeper.setUsername("sa");
            keeper.setPassword("first-s3cret");
            ApplicationContextRunner protectedOne =
                    database.withPropertyValues("spring.datasource.url=" + file, "spring.datasource.username=sa");
            new JdbcTemplate(keeper).execute("SET WRITE_DELAY 0");
            protectedOne
                    .withPropertyValues("spring.datasource.password=first-s3cret")
                    .run(context -> assertThat(context).hasNotFailed());
            protectedOne
                    .withPropertyValues("spring.datasource.password=second-s3cret")
                    .run(context -> {
                        assertThat(context).hasFailed();
                        StringWriter trace = new StringWriter();
                        context.getStartupFailure().printStackTrace(new PrintWriter(trace));
                        assertThat(trace.toString())
                                .contains("Wrong user name or password")
                                .doesNotContain("s3cret");
                    });
        }
    }

    @Test
    void what_hikari_tells_the_driver_reaches_the_locks() {
        JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(url, "sa", ""));
        for (String schema : List.of("hikari.schema", "hikari.data-source-properties.SCHEMA")) {
            jdbc.execute("CREATE SCHEMA locks");
            application
                    .withPropertyValues("spring.datasource." + schema + "=LOCKS")
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(jdbc.queryForObject("SELECT COUNT(*) FROM locks.holdfast_lock", Integer.class))
                                .isZero();
                    });
            jdbc.execute("DROP SCHEMA locks CASCADE");
        }
    }

    @Test
    void a_data_source_around_another_is_looked_through() {
        database.withBean(DataSource.class, () -> new DelegatingDataSource(new DriverManagerDataSource(url)))
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void a_data_source_that_cannot_keep_locks_is_refused_with_the_way_out() {
        FailureAnalysis routing = refused(database.withBean(DataSource.class, DatabaseStoreTest::routing));
        assertThat(routing.getDescription()).contains("does not tell its JDBC URL");
        assertThat(routing.getAction()).contains("holdfast.store", "jdbc:postgresql://host/database");
        FailureAnalysis oracle = refused(database.withBean(
                DataSource.class,
                () -> new SimpleDriverDataSource(new org.h2.Driver(), "jdbc:oracle:thin:@db", "app", "s3cret")));
        assertThat(oracle.getDescription())
                .contains("jdbc:oracle", "not supported")
                .doesNotContain("s3cret");
        FailureAnalysis none = refused(database.withPropertyValues("holdfast.store=datasource")
                .withClassLoader(
                        new org.springframework.boot.test.context.FilteredClassLoader("org.h2", "com.zaxxer")));
        assertThat(none.getDescription()).contains("there is no DataSource bean");
        assertThat(none.getAction()).contains("spring.datasource.url");
    }

    @Test
    void a_setting_without_effect_is_refused() {
        assertThat(refused(application.withPropertyValues("holdfast.name-prefix=app:"))
                        .getDescription())
                .contains("holdfast.name-prefix is for the application's Redis, but the locks are in its database");
        assertThat(refused(application.withPropertyValues("holdfast.store=memory:x", "holdfast.create-table=true"))
                        .getDescription())
                .contains("holdfast.create-table is for the application's database, but the locks are in another"
                        + " store");
    }

    private static DataSource routing() {
        return new AbstractRoutingDataSource() {
            {
                setTargetDataSources(Map.of());
            }

            @Override
            protected Object determineCurrentLookupKey() {
                return "none";
            }
        };
    }

    /** Returns what Boot prints. */
    private static FailureAnalysis refused(ApplicationContextRunner runner) {
        FailureAnalysis[] analysis = new FailureAnalysis[1];
        runner.run(context -> {
            assertThat(context).hasFailed();
            Throwable failure = context.getStartupFailure();
            analysis[0] = new LockSettingsFailureAnalyzer().analyze(failure);
            if (analysis[0] == null) {
                analysis[0] = new LockStoreFailureAnalyzer().analyze(failure);
            }
            assertThat(analysis[0]).as(String.valueOf(failure)).isNotNull();
        });
        return analysis[0];
    }
}
