package io.holdfast.spring.boot;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;

/**
 * Opens the store of the auto-configured client, as a bean, in place of {@code holdfast.store} and the application's
 * Redis. Meant for stores that are configured in code, for example {@code RedisStores.standalone(uri)::open}.
 *
 * <pre>{@code
 * @Bean
 * LockStoreFactory lockStore(ClientResources shared) {
 *     RedisURI uri = RedisURI.create("redis://lock-server");
 *     return RedisStores.standalone(uri).clientResources(shared)::open;
 * }
 * }</pre>
 */
@FunctionalInterface
public interface LockStoreFactory {

    /** Opens a store. The client closes it. */
    LockStore open(StoreContext context);
}
