package io.holdfast.spring.boot;

import io.holdfast.LockClient;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/** Decides which store the client uses. */
final class LockStores {

    private static final String ADVICE = "Add org.springframework.boot:spring-boot-starter-data-redis and"
            + " io.holdfast:holdfast-redis (holdfast-spring-boot-starter has both), or io.holdfast:holdfast-sql for"
            + " locks in the application's database, or set holdfast.store, for example to zookeeper://host:2181,"
            + " or to memory:tests in tests";

    /** The value of {@code holdfast.store} for the application's database. */
    private static final String DATASOURCE = "datasource";

    private static final String FACTORY = "org.springframework.data.redis.connection.RedisConnectionFactory";
    private static final String REDIS_MODULE = "io.holdfast.redis.RedisStores";
    private static final String SQL_MODULE = "io.holdfast.sql.SqlStores";

    private static final ClassLoader CLASSES = LockStores.class.getClassLoader();

    private static final String ADVICE_WITH_JEDIS = "Jedis cannot keep locks. Add io.holdfast:holdfast-redis and"
            + " io.lettuce:lettuce-core, with which Spring Boot then makes all Redis connections. To keep Jedis for"
            + " the others, add both and set spring.data.redis.client-type=jedis and holdfast.store to the URI of the"
            + " server, for example redis://host:6379";

    private static final System.Logger LOG = System.getLogger(LockStores.class.getName());

    private LockStores() {}

    static void configure(
            LockClient.Builder builder,
            HoldfastProperties properties,
            ListableBeanFactory beans,
            Environment environment) {
        if (isDatabase(properties.store(), properties.datasource(), beans)) {
            refuseSettingsOfRedis(properties, "the locks are in its database");
            requireModules();
            ApplicationDatabase.configure(builder, properties, beans);
            return;
        }
        refuseSettingsOfDatabase(properties);
        if (StringUtils.hasText(properties.store())) {
            refuseSettingsOfRedis(properties, "holdfast.store is set, too");
            builder.uri(properties.store());
            return;
        }
        if (!isPresent(FACTORY)) {
            throw new LockSettingsException(
                    "Spring Data Redis is not on the class path, and holdfast.store is not set", ADVICE);
        }
        boolean lettuce = isPresent("io.lettuce.core.RedisURI");
        boolean module = isPresent(REDIS_MODULE);
        if (!lettuce || !module) {
            throw new LockSettingsException(
                    (lettuce ? "io.holdfast:holdfast-redis" : "Lettuce") + " is not on the class path",
                    isPresent("redis.clients.jedis.Jedis") ? ADVICE_WITH_JEDIS : ADVICE);
        }
        OnRedis.configure(builder, properties, beans, environment);
    }

    private static boolean isPresent(String type) {
        return ClassUtils.isPresent(type, CLASSES);
    }

    /**
     * Returns whether the locks are in the application's database: as it says, or because it has one and no Redis that
     * can keep locks. Makes no bean.
     */
    static boolean isDatabase(@Nullable String store, @Nullable String datasource, ListableBeanFactory beans) {
        if (StringUtils.hasText(store)) {
            return store.strip().equals(DATASOURCE);
        }
        if (StringUtils.hasText(datasource)) {
            return true;
        }
        return isPresent(SQL_MODULE) && has(DataSource.class, beans) && !(isPresent(REDIS_MODULE) && hasRedis(beans));
    }

    private static boolean hasRedis(ListableBeanFactory beans) {
        return isPresent(FACTORY) && has(ClassUtils.resolveClassName(FACTORY, CLASSES), beans);
    }

    private static boolean has(Class<?> type, ListableBeanFactory beans) {
        return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true, false).length > 0;
    }

    private static void requireModules() {
        if (!isPresent(SQL_MODULE)) {
            throw new LockSettingsException(new IllegalArgumentException(
                    "holdfast.store: datasource needs io.holdfast:holdfast-sql, which is not on the class path"));
        }
        if (!isPresent("org.springframework.boot.jdbc.DataSourceBuilder")) {
            throw new LockSettingsException(
                    "Locks in the application's database need Boot's JDBC, which is not on the class path",
                    "Add org.springframework.boot:spring-boot-starter-jdbc, or set holdfast.store to the JDBC URL of the"
                            + " database, for example jdbc:postgresql://host/database");
        }
    }

    /** Refuses settings that would silently have no effect. */
    private static void refuseSettingsOfDatabase(HoldfastProperties properties) {
        if (StringUtils.hasText(properties.datasource()) || properties.createTable() != null) {
            throw new LockSettingsException(
                    "holdfast." + (properties.createTable() != null ? "create-table" : "datasource")
                            + " is for the application's database, but the locks are in another store",
                    "Set holdfast.store=datasource, or remove the setting. In a JDBC URL of holdfast.store, write"
                            + " createTable=true");
        }
    }

    /** Refuses settings that would silently have no effect. */
    private static void refuseSettingsOfRedis(HoldfastProperties properties, String because) {
        Map<String, @Nullable Object> settings = new LinkedHashMap<>();
        settings.put("name-prefix", properties.namePrefix());
        settings.put("internal-prefix", properties.internalPrefix());
        settings.put("mode", properties.mode());
        settings.put("min-replicas", properties.minReplicas());
        settings.put("command-timeout", properties.commandTimeout());
        settings.put("connection-factory", properties.connectionFactory());
        settings.forEach((name, value) -> {
            if (value != null) {
                throw new LockSettingsException(
                        "holdfast." + name + " is for the application's Redis, but " + because,
                        "Write it into the URI of holdfast.store, for example redis://host?namePrefix=app:&mode=lua,"
                                + " or remove one of the two");
            }
        });
    }

    /** Loaded only where Spring Data Redis, Lettuce and holdfast-redis are present. */
    private static final class OnRedis {

        static void configure(
                LockClient.Builder builder,
                HoldfastProperties properties,
                ListableBeanFactory beans,
                Environment environment) {
            RedisConnectionFactory bean = find(properties, beans);
            Object target = AopProxyUtils.getSingletonTarget(bean);
            Object unwrapped = target == null ? bean : target;
            if (!(unwrapped instanceof LettuceConnectionFactory known)) {
                throw new LockSettingsException(
                        "The application's Redis connections are made by a "
                                + unwrapped.getClass().getName() + ", but locks need Lettuce",
                        "Set spring.data.redis.client-type=lettuce, or remove that setting. To keep Jedis for the"
                                + " rest, set holdfast.store to the URI of the server, for example redis://host:6379."
                                + " Both need io.lettuce:lettuce-core and io.holdfast:holdfast-redis");
            }
            warnOfBoot2(environment);
            warnOfJedis(environment);
            builder.store(context -> ApplicationRedis.stores(known, properties).open(context));
        }

        /** The settings of Boot 2 have no effect, so the locks would be on the default server, localhost. */
        private static void warnOfBoot2(Environment environment) {
            for (String each : List.of("url", "host", "port", "password", "cluster.nodes", "sentinel.master")) {
                if (environment.containsProperty("spring.redis." + each)
                        && !environment.containsProperty("spring.data.redis." + each)) {
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "spring.redis." + each + " is the name of Spring Boot 2 and has no effect (expected:"
                                    + " spring.data.redis." + each + ")");
                }
            }
        }

        /** holdfast-redis brings Lettuce, which Boot prefers to Jedis without a word. */
        private static void warnOfJedis(Environment environment) {
            if (isPresent("redis.clients.jedis.Jedis")
                    && !environment.containsProperty("spring.data.redis.client-type")) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "Jedis is on the class path, but Lettuce, which io.holdfast:holdfast-redis brings, makes the"
                                + " application's Redis connections; spring.data.redis.jedis.* has no effect (expected:"
                                + " spring.data.redis.client-type=lettuce, or jedis together with holdfast.store)");
            }
        }

        private static RedisConnectionFactory find(HoldfastProperties properties, ListableBeanFactory beans) {
            if (StringUtils.hasText(properties.connectionFactory())) {
                try {
                    return beans.getBean(properties.connectionFactory(), RedisConnectionFactory.class);
                } catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException e) {
                    throw new LockSettingsException(
                            "holdfast.connection-factory is \"" + properties.connectionFactory()
                                    + "\", and there is no RedisConnectionFactory bean of that name",
                            "Set it to one of these names: "
                                    + String.join(", ", beans.getBeanNamesForType(RedisConnectionFactory.class)));
                }
            }
            String[] names = beans.getBeanNamesForType(RedisConnectionFactory.class);
            if (names.length == 0) {
                throw new LockSettingsException(
                        "There is no RedisConnectionFactory bean, and holdfast.store is not set", ADVICE);
            }
            RedisConnectionFactory single =
                    beans.getBeanProvider(RedisConnectionFactory.class).getIfUnique();
            if (single == null) {
                throw new LockSettingsException(
                        "There are several RedisConnectionFactory beans, and none is primary: "
                                + String.join(", ", names),
                        "Set holdfast.connection-factory to one of these names");
            }
            return single;
        }
    }
}
