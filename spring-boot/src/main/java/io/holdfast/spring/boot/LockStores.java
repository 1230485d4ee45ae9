package io.holdfast.spring.boot;

import io.holdfast.LockClient;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
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
            + " io.holdfast:holdfast-redis (holdfast-spring-boot-starter has both), or set holdfast.store, for"
            + " example to zookeeper://host:2181, or to memory:tests in tests";

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
        if (StringUtils.hasText(properties.store())) {
            refuseSettingsOfRedis(properties);
            builder.uri(properties.store());
            return;
        }
        ClassLoader classes = LockStores.class.getClassLoader();
        if (!ClassUtils.isPresent("org.springframework.data.redis.connection.RedisConnectionFactory", classes)) {
            throw new LockSettingsException(
                    "Spring Data Redis is not on the class path, and holdfast.store is not set", ADVICE);
        }
        boolean lettuce = ClassUtils.isPresent("io.lettuce.core.RedisURI", classes);
        boolean module = ClassUtils.isPresent("io.holdfast.redis.RedisStores", classes);
        if (!lettuce || !module) {
            throw new LockSettingsException(
                    (lettuce ? "io.holdfast:holdfast-redis" : "Lettuce") + " is not on the class path",
                    ClassUtils.isPresent("redis.clients.jedis.Jedis", classes) ? ADVICE_WITH_JEDIS : ADVICE);
        }
        OnRedis.configure(builder, properties, beans, environment);
    }

    /** Refuses settings that would silently have no effect. */
    private static void refuseSettingsOfRedis(HoldfastProperties properties) {
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
                        "holdfast." + name + " is for the application's Redis, but holdfast.store is set, too",
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
            if (ClassUtils.isPresent("redis.clients.jedis.Jedis", LockStores.class.getClassLoader())
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
