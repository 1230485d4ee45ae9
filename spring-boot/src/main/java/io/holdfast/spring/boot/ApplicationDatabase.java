package io.holdfast.spring.boot;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.LockClient;
import io.holdfast.sql.SqlStores;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * The application's database as the store, over connections of our own: a thread that has a connection of the pool and
 * waits for a lock, whose holder waits for a connection of the pool, would wait forever. Loaded only where holdfast-sql
 * and Boot's JDBC are present.
 */
final class ApplicationDatabase {

    private static final System.Logger LOG = System.getLogger(ApplicationDatabase.class.getName());

    private static final String IN_MEMORY = "jdbc:h2:mem:";

    private static final String OTHER_WAYS = "Set holdfast.store to the JDBC URL of the database, for example"
            + " jdbc:postgresql://host/database, or holdfast.datasource to the name of another DataSource bean";

    private static final boolean HIKARI =
            ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", ApplicationDatabase.class.getClassLoader());

    private ApplicationDatabase() {}

    static void configure(LockClient.Builder builder, HoldfastProperties properties, ListableBeanFactory beans) {
        String name = name(properties, beans);
        DataSource source = unwrapped(beans.getBean(name, DataSource.class));
        SimpleDriverDataSource now = derived(name, source);
        String url = now.getUrl();
        if (!StringUtils.hasText(url)) {
            throw withoutUrl(name, source, null);
        }
        SqlStores.Builder store = store(name, url);
        if (now.getUsername() != null) {
            store.user(now.getUsername());
        }
        // The password of a pool may change while it runs.
        store.password(() -> derived(name, source).getPassword());
        if (HIKARI) {
            Hikari.copy(source, store, url.startsWith("jdbc:h2:") ? "SCHEMA" : "currentSchema");
        }
        boolean inMemory = url.startsWith(IN_MEMORY);
        if (inMemory) {
            LOG.log(
                    System.Logger.Level.INFO,
                    "Locks are in the H2 database in the memory of this process, so no other process sees them");
        }
        Boolean create = properties.createTable();
        if (create != null || inMemory) {
            store.createTable(create == null || create);
        }
        builder.store(store::open);
    }

    private static String name(HoldfastProperties properties, ListableBeanFactory beans) {
        String[] names = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, DataSource.class);
        if (StringUtils.hasText(properties.datasource())) {
            try {
                beans.getBean(properties.datasource(), DataSource.class);
                return properties.datasource();
            } catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException e) {
                throw new LockSettingsException(
                        "holdfast.datasource is \"" + properties.datasource()
                                + "\", and there is no DataSource bean of that name",
                        names.length == 0
                                ? "Set spring.datasource.url"
                                : "Set it to one of these names: " + String.join(", ", names));
            }
        }
        if (names.length == 0) {
            throw new LockSettingsException(
                    "holdfast.store is datasource, and there is no DataSource bean",
                    "Add org.springframework.boot:spring-boot-starter-jdbc and set spring.datasource.url, or set"
                            + " holdfast.store to the JDBC URL of the database, for example"
                            + " jdbc:postgresql://host/database");
        }
        DataSource single = beans.getBeanProvider(DataSource.class).getIfUnique();
        for (String each : names) {
            if (single != null && beans.getBean(each) == single) {
                return each;
            }
        }
        throw new LockSettingsException(
                "There are several DataSource beans, and none is primary: " + String.join(", ", names),
                "Set holdfast.datasource to one of these names");
    }

    /** Boot 3 does not look through all of these. */
    private static DataSource unwrapped(DataSource source) {
        if (source instanceof DelegatingDataSource delegating && delegating.getTargetDataSource() != null) {
            return unwrapped(delegating.getTargetDataSource());
        }
        return AopProxyUtils.getSingletonTarget(source) instanceof DataSource target ? unwrapped(target) : source;
    }

    /** Returns its URL and login of now, whatever pool it is. */
    private static SimpleDriverDataSource derived(String name, DataSource source) {
        try {
            return DataSourceBuilder.derivedFrom(source)
                    .type(SimpleDriverDataSource.class)
                    .build();
        } catch (RuntimeException e) {
            throw withoutUrl(name, source, e);
        }
    }

    private static LockSettingsException withoutUrl(String name, DataSource source, @Nullable Exception cause) {
        String what = "The DataSource \"" + name + "\", a " + source.getClass().getName()
                + ", does not tell its JDBC URL, which the locks need for connections of their own";
        return cause == null
                ? new LockSettingsException(what, OTHER_WAYS)
                : new LockSettingsException(what, OTHER_WAYS, cause);
    }

    private static SqlStores.Builder store(String name, String url) {
        try {
            return SqlStores.url(url);
        } catch (IllegalArgumentException e) {
            throw new LockSettingsException(
                    "The DataSource \"" + name + "\" cannot keep locks: " + e.getMessage(), OTHER_WAYS, e);
        }
    }

    /** Loaded only where HikariCP is present: what it tells the driver beside URL and login. */
    private static final class Hikari {

        static void copy(DataSource source, SqlStores.Builder store, String schemaProperty) {
            HikariDataSource pool =
                    DataSourceUnwrapper.unwrap(source, HikariConfigMXBean.class, HikariDataSource.class);
            if (pool != null) {
                pool.getDataSourceProperties()
                        .forEach((name, value) -> store.property(String.valueOf(name), String.valueOf(value)));
                if (StringUtils.hasText(pool.getSchema())) {
                    store.property(schemaProperty, pool.getSchema());
                }
            }
        }
    }
}
