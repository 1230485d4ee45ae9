package io.holdfast.spring.boot;

import io.holdfast.LockClient;

/**
 * Changes the settings of the auto-configured client before it is opened, as a bean. It does not apply to clients that
 * the application makes itself. For another store, set {@code holdfast.store} or declare a {@link LockStoreFactory}.
 *
 * <pre>{@code
 * @Bean
 * LockClientCustomizer lockClientSettings() {
 *     return builder -> builder.clientName("billing").cards(CardDetail.THREADS);
 * }
 * }</pre>
 */
@FunctionalInterface
public interface LockClientCustomizer {

    /** Changes settings other than the store. */
    void customize(LockClient.Builder builder);
}
