package io.holdfast.spring.boot;

import io.holdfast.LeadershipOptions;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.LockOptions;
import io.holdfast.spi.DurationText;
import io.holdfast.spring.LockedConfiguration;
import io.holdfast.spring.LockedDefaults;
import io.holdfast.spring.declaration.LockedMethods;
import io.holdfast.spring.startup.LateClose;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.Environment;
import org.springframework.core.task.VirtualThreadTaskExecutor;

/**
 * Makes a {@link LockClient} bean, on {@code holdfast.store} or otherwise on the application's own Redis or
 * database, and makes {@code @Locked} work. Uses these beans: {@link LockListener}s, {@link LockClientCustomizer}s, and
 * a {@link LockStoreFactory}.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/spring.md#settings">Settings</a>
 */
@AutoConfiguration(
        afterName = {
            // Boot 4, Boot 3
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration"
        })
@EnableConfigurationProperties(HoldfastProperties.class)
@Import(LockedConfiguration.class)
@ImportRuntimeHints(HoldfastAutoConfiguration.Hints.class)
public final class HoldfastAutoConfiguration {

    /** The name of the bean. */
    static final String CLIENT = "holdfastLockClient";

    private static final System.Logger LOG = System.getLogger(HoldfastAutoConfiguration.class.getName());

    @Bean
    @ConditionalOnMissingBean
    LockedDefaults holdfastLockedDefaults(HoldfastProperties properties, Environment environment) {
        String waitTime = environment.getProperty("holdfast.wait-time", "").strip();
        if (waitTime.matches("[1-9][0-9]?")) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "holdfast.wait-time=" + waitTime + " has no unit, so it is " + waitTime
                            + " milliseconds (expected: for example " + waitTime + "s)");
        }
        try {
            LockOptions options =
                    LockOptions.defaults().tenure(properties.handOff().tenure());
            return new LockedDefaults(
                    Optional.of(properties.waitTime()).filter(wait -> !wait.isNegative()),
                    properties.handOff().fair() ? options.fair() : options,
                    properties.outerTransaction());
        } catch (IllegalArgumentException e) {
            throw new LockSettingsException(e);
        }
    }

    @Bean
    @ConditionalOnMissingBean
    LeadershipOptions holdfastLeadershipOptions(HoldfastProperties properties) {
        Duration stopWithin = properties.leader().stopWithin();
        try {
            return stopWithin == null
                    ? LeadershipOptions.defaults()
                    : LeadershipOptions.defaults().stopWithin(stopWithin);
        } catch (IllegalArgumentException e) {
            throw new LockSettingsException(e);
        }
    }

    /** Includes clients that the application makes itself, even those that are no candidates for injection by type. */
    @Bean
    LockClientLifecycle holdfastLockClientLifecycle(
            ConfigurableApplicationContext context,
            LateClose lateClose,
            LockedMethods methods,
            LockedDefaults defaults,
            HoldfastProperties properties) {
        Collection<LockClient> clients =
                context.getBeansOfType(LockClient.class).values();
        clients.forEach(lateClose::add);
        boolean lazy = context.getEnvironment().getProperty("spring.main.lazy-initialization", Boolean.class, false);
        return new LockClientLifecycle(
                context,
                clients,
                () -> methods.describeCount()
                        + (lazy ? " so far (lazy initialization: the others are checked at their first use)" : "")
                        + ", wait "
                        + defaults.waitTime().map(DurationText::rounded).orElse("unlimited") + ", renewed lease "
                        + DurationText.rounded(properties.leaseTime()));
    }

    /** Registers, for native images, the field that {@link ApplicationRedis} reads by reflection. */
    static final class Hints implements RuntimeHintsRegistrar {

        private static final String FACTORY =
                "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory";

        @Override
        public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
            hints.reflection()
                    .registerTypeIfPresent(loader, FACTORY, type -> type.withField(ApplicationRedis.CONFIGURATION));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(prefix = "holdfast", name = "enabled", matchIfMissing = true)
    static class Client {

        private static final int CLIENT_NAME_MAX = 100;

        @Bean(CLIENT)
        @ConditionalOnMissingBean
        LockClient holdfastLockClient(
                HoldfastProperties properties,
                ListableBeanFactory beans,
                Environment environment,
                ObjectProvider<LockStoreFactory> stores,
                ObjectProvider<LockListener> listeners,
                ObjectProvider<LockClientCustomizer> customizers) {
            SpringLog.install();
            try {
                LockClient.Builder builder = LockClient.builder().leaseTime(properties.leaseTime());
                if (properties.storeTimeout() != null) {
                    builder.storeTimeout(properties.storeTimeout());
                }
                if (properties.startup() == HoldfastProperties.Startup.LAZY) {
                    builder.lazy();
                }
                String name =
                        environment.getProperty("spring.application.name", "").strip();
                if (!name.isEmpty()) {
                    builder.clientName(name.length() <= CLIENT_NAME_MAX ? name : name.substring(0, CLIENT_NAME_MAX));
                }
                LockStoreFactory store = stores.getIfAvailable();
                if (store != null) {
                    builder.store(store::open);
                } else {
                    LockStores.configure(builder, properties, beans, environment);
                }
                listeners.orderedStream().forEach(builder::listener);
                if (environment.getProperty("spring.threads.virtual.enabled", Boolean.class, false)
                        && Runtime.version().feature() >= 21) {
                    builder.callbackThreads(
                            new VirtualThreadTaskExecutor("holdfast-callback-").getVirtualThreadFactory());
                }
                customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
                return builder.build();
            } catch (IllegalArgumentException e) {
                throw new LockSettingsException(e);
            }
        }
    }
}
