package io.holdfast.spring.boot;

import java.util.Set;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitializationDetector;
import org.springframework.core.env.Environment;

/**
 * Makes the client wait for Flyway, Liquibase and schema.sql, which may make its tables, if the locks are in the
 * application's database. With another store it does not wait, so a migration may use locks.
 */
final class LocksAfterMigrations implements DependsOnDatabaseInitializationDetector {

    private final Environment environment;

    LocksAfterMigrations(Environment environment) {
        this.environment = environment;
    }

    @Override
    public Set<String> detect(ConfigurableListableBeanFactory beans) {
        boolean waits = beans.containsBeanDefinition(HoldfastAutoConfiguration.CLIENT)
                && beans.getBeanNamesForType(LockStoreFactory.class, true, false).length == 0
                && LockStores.isDatabase(
                        environment.getProperty("holdfast.store"),
                        environment.getProperty("holdfast.datasource"),
                        beans);
        return waits ? Set.of(HoldfastAutoConfiguration.CLIENT) : Set.of();
    }
}
