package io.holdfast.spring.boot;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;

/**
 * A bean of this type opens the store of the auto-configured client, in place of {@code holdfast.store} and the application's Redis: for
 * stores that are configured in code, for example {@code RedisStores.standalone(uri)::open}.
 */
@FunctionalInterface
public interface LockStoreFactory {

    /** Opens a store, which the client closes. */
    LockStore open(StoreContext context);
}
