package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.api.StatefulRedisConnection;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Who gets which connection, without a server. */
class DedicatedConnectionsTest {

    private final List<String> connectedFor = new ArrayList<>();
    private final List<CompletableFuture<String>> uses = new ArrayList<>();
    private final DedicatedConnections dedicated = new DedicatedConnections(
            key -> {
                connectedFor.add(key);
                return CompletableFuture.completedFuture(connection());
            },
            key -> "server");

    /** The slot of the key that was used before may be at another node by now. */
    @Test
    void whoWaitedConnectsToWhereTheOwnKeyIs() {
        for (int i = 0; i < 9; i++) {
            use("key" + i);
        }
        assertThat(connectedFor).hasSize(8).doesNotContain("key8");
        uses.get(0).completeExceptionally(new IllegalStateException("broken"));
        assertThat(connectedFor).hasSize(9).endsWith("key8");
        assertThat(uses).hasSize(9);
        assertThat(dedicated.size()).isEqualTo(8);
    }

    private void use(String key) {
        var unused = dedicated.with(key, connection -> {
            CompletableFuture<String> use = new CompletableFuture<>();
            uses.add(use);
            return use;
        });
    }

    @SuppressWarnings("unchecked")
    private static StatefulRedisConnection<String, String> connection() {
        return (StatefulRedisConnection<String, String>) Proxy.newProxyInstance(
                DedicatedConnectionsTest.class.getClassLoader(),
                new Class<?>[] {StatefulRedisConnection.class},
                (proxy, method, args) -> switch (method.getName()) {
                    case "isOpen" -> true;
                    case "closeAsync" -> CompletableFuture.completedFuture(null);
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }
}
