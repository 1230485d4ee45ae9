package io.holdfast.memory;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreProvider;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.net.URI;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Opens {@code memory:NAME}. Clients of this JVM with the same name share locks, for as long as the JVM lives.
 *
 * <pre>{@code
 * try (LockClient locks = LockClient.connect("memory:tests")) {
 *     locks.run("order:42", lease -> orders.refund(42, lease.fencingToken()));
 * }
 * }</pre>
 */
public final class MemoryLockStoreProvider implements LockStoreProvider {

    private static final Map<String, MemoryLockStore.Server> SERVERS = new ConcurrentHashMap<>();

    @Override
    public Set<String> schemes() {
        return Set.of("memory");
    }

    @Override
    public LockStore open(URI uri, StoreContext context) {
        String name = uri.getSchemeSpecificPart().replaceFirst("^//", "");
        if (name.isBlank()) {
            throw new IllegalArgumentException("store URI: \"" + uri + "\" (expected: memory:NAME)");
        }
        // One clock for all clients of a server: the store's own time must not depend on the client that asks.
        return SERVERS.computeIfAbsent(name, n -> new MemoryLockStore.Server(TimeSource.system()))
                .connect(context);
    }
}
