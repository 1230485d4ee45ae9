package io.holdfast.spring.boot;

import io.holdfast.LockClient;

/**
 * A bean that changes the settings of the auto-configured client, as the last before it is opened; not of clients that the
 * application makes itself. For another store, set {@code holdfast.store} or declare a {@link LockStoreFactory}.
 */
@FunctionalInterface
public interface LockClientCustomizer {

    /** Changes settings, other than the store. */
    void customize(LockClient.Builder builder);
}
