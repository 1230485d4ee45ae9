package io.holdfast.spring.boot;

import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.LockOptions;
import io.holdfast.spring.LockedConfiguration;
import io.holdfast.spring.LockedDefaults;
import java.util.List;
import java.util.Optional;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * {@link LockClient} as a bean, on {@code holdfast.store} or else on the application's own Redis, and {@code @Locked}. Beans that
 * it takes up: {@link LockListener}s, {@link LockClientCustomizer}s, and a
 * {@link LockStoreFactory}.
 */
@AutoConfiguration(
        afterName = {
            // Boot 4, Boot 3
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration"
        })
@EnableConfigurationProperties(HoldfastProperties.class)
@Import(LockedConfiguration.class)
public final class HoldfastAutoConfiguration {

    /** For Spring. */
    public HoldfastAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    LockedDefaults holdfastLockedDefaults(HoldfastProperties properties) {
        LockOptions options = LockOptions.defaults().tenure(properties.handOff().tenure());
        return new LockedDefaults(
                Optional.of(properties.waitTime()).filter(wait -> !wait.isNegative()),
                properties.handOff().fair() ? options.fair() : options);
    }

    /** For the clients that users make themselves, too. */
    @Bean
    LockClientLifecycle holdfastLockClientLifecycle(ObjectProvider<LockClient> clients) {
        return new LockClientLifecycle(clients.stream().toList());
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(prefix = "holdfast", name = "enabled", matchIfMissing = true)
    static class Client {

        @Bean(destroyMethod = "close")
        @ConditionalOnMissingBean
        LockClient holdfastLockClient(
                HoldfastProperties properties,
                ListableBeanFactory beans,
                Environment environment,
                ObjectProvider<LockStoreFactory> stores,
                ObjectProvider<LockListener> listeners,
                ObjectProvider<LockClientCustomizer> customizers) {
            LockClient.Builder builder =
                    LockClient.builder().leaseTime(properties.leaseTime()).storeTimeout(properties.storeTimeout());
            LockStoreFactory factory = stores.getIfAvailable();
            if (factory != null) {
                builder.store(factory::open);
            } else {
                LockStores.configure(builder, properties, beans);
            }
            List<LockListener> all = listeners.orderedStream().toList();
            if (!all.isEmpty()) {
                builder.listener(new LockListeners(all));
            }
            if (environment.getProperty("spring.threads.virtual.enabled", Boolean.class, false)
                    && Runtime.version().feature() >= 21) {
                SimpleAsyncTaskExecutor virtual = new SimpleAsyncTaskExecutor("holdfast-callback-");
                virtual.setVirtualThreads(true);
                builder.callbackExecutor(virtual);
            }
            customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
            return builder.build();
        }
    }
}
