package io.holdfast.spi;

/**
 * The client for which a store is opened, as far as the store needs to know it.
 *
 * <pre>{@code
 * StoreContext context = new StoreContext("hf-a", TimeSource.system());
 * try (LockStore store = new MemoryLockStoreProvider().open(URI.create("memory:tests"), context)) {
 *     StoreState state = store.inspect("order:42").toCompletableFuture().join();
 * }
 * }</pre>
 *
 * @param clientId the random id of the client; its holder ids begin with this id and a colon
 * @param time the client's time, from which the store takes all time
 * @param title who the client is, for people who look at the store's connections: {@code billing@pod-7:4711}; may
 *     have any characters
 */
public record StoreContext(String clientId, TimeSource time, String title) {

    /** Creates the context of a client without a title. */
    public StoreContext(String clientId, TimeSource time) {
        this(clientId, time, "");
    }
}
