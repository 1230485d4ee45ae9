package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.spring.Locked;
import io.holdfast.testkit.servers.PostgresServer;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

/** Locks and data in one PostgreSQL database, which needs no table for the guard. */
@Tag("deep")
class PostgresGuardTest {

    /** Locked work that looks at its own lock from outside of its transaction. */
    public static class Work {

        private final JdbcTemplate jdbc;

        Work(DataSource database) {
            this.jdbc = new JdbcTemplate(database);
        }

        @Locked("work")
        @Transactional
        public void look(LockClient others, AtomicBoolean free) {
            jdbc.queryForObject("SELECT 1", Integer.class);
            others.forceRelease("work");
            free.set(others.tryAcquire("work").isPresent());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(proxyTargetClass = true)
    static class Application {

        @Bean
        PlatformTransactionManager transactions(DataSource database) {
            return new DataSourceTransactionManager(database);
        }
    }

    @Test
    void the_start_needs_no_table_and_the_guard_holds() throws Exception {
        String url = PostgresServer.start().url();
        try (LockClient others = LockClient.connect(url + "&createTable=true")) {
            Contexts.boot()
                    .withConfiguration(AutoConfigurations.of(HoldfastGuardAutoConfiguration.class))
                    .withUserConfiguration(Application.class)
                    .withPropertyValues("holdfast.guard.enabled=true", "holdfast.store=datasource")
                    .withBean("dataSource", DataSource.class, () -> new DriverManagerDataSource(url))
                    .withBean(Work.class)
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        // Without the guard the lock would be free.
                        AtomicBoolean free = new AtomicBoolean(true);
                        assertThatThrownBy(() -> context.getBean(Work.class).look(others, free))
                                .isInstanceOf(LeaseLostException.class);
                        assertThat(free).isFalse();
                    });
        }
    }
}
