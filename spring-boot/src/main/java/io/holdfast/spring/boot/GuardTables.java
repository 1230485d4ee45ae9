package io.holdfast.spring.boot;

import io.holdfast.LockClient;
import io.holdfast.jdbc.JdbcGuard;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Refuses the start if a guarded database has no table for the guard: every transaction under a lock would fail. Where
 * the locks are in that database, and it is PostgreSQL, the guard needs no table. Any
 * other failure of the question may pass, so it is a warning. The container asks after all singletons are made, so
 * Flyway and Liquibase have run.
 */
final class GuardTables implements SmartInitializingSingleton {

    private static final System.Logger LOG = System.getLogger(GuardTables.class.getName());

    private final JdbcGuard guard;
    private final ConfigurableListableBeanFactory beans;
    private final HoldfastProperties.Startup startup;

    GuardTables(JdbcGuard guard, ConfigurableListableBeanFactory beans, HoldfastProperties.Startup startup) {
        this.guard = guard;
        this.beans = beans;
        this.startup = startup;
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (startup == HoldfastProperties.Startup.LAZY) {
            return;
        }
        for (String name : beans.getBeanNamesForType(DataSource.class, true, false)) {
            // With lazy initialization the migrations have not run.
            boolean lazy = beans.containsBeanDefinition(name)
                    && beans.getMergedBeanDefinition(name).isLazyInit();
            if (!lazy && beans.containsSingleton(name)) {
                check(name, beans.getBean(name, DataSource.class));
            }
        }
    }

    private void check(String name, DataSource source) {
        try (Connection connection = source.getConnection()) {
            require(name, connection);
        } catch (LockSettingsException e) {
            throw e;
        } catch (SQLException | RuntimeException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "The guard''s table could not be looked for in the DataSource {0}: {1}",
                    name,
                    e);
        }
    }

    /** Returns the clients that were made: whose locks a guard may depend on. */
    private List<LockClient> clients() {
        return Arrays.stream(beans.getBeanNamesForType(LockClient.class, true, false))
                .filter(beans::containsSingleton)
                .map(name -> beans.getBean(name, LockClient.class))
                .toList();
    }

    private void require(String name, Connection connection) throws SQLException {
        try {
            guard.requireTable(connection, clients());
        } catch (IllegalStateException e) {
            throw new LockSettingsException(
                    "holdfast.guard.enabled, DataSource " + name + ": " + e.getMessage(),
                    "Make the table in a migration (Flyway, Liquibase, schema.sql), or set holdfast.startup=lazy if it is"
                            + " made after the start",
                    e);
        }
    }
}
