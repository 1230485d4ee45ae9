package io.holdfast.redis;

import io.holdfast.quorum.QuorumStores;
import io.holdfast.redis.connect.SharedThreads;
import io.holdfast.redis.member.MemberOpening;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.RedlockUri;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreProvider;
import io.holdfast.spi.StoreContext;
import java.net.URI;
import java.util.Set;

/**
 * Opens {@code redlock://[user:password@]host1[:port],host2[:port],host3[:port][/database][?option=value&…]}: a quorum of
 * independent Redis servers, each a single one. What must hold for it is said at {@link QuorumStores}.
 *
 * <p>User, password and database are the same for all. Options, beside those of {@code redis://} except
 * {@code minReplicas} and {@code mode}:
 *
 * <ul>
 *   <li>{@code memberTimeout}: how long to wait for one member; {@code 100ms} by default
 *   <li>{@code longestLease}: the longest lease that any client asks for, {@code 60s} by default. So long a server that was
 *       restarted does not vote. The same for all clients
 *   <li>{@code clockDrift}: by how much the rates of two clocks may differ, {@code 0.01} by default
 *   <li>{@code bootstrap=true}: let servers that are all new vote at once; for the first start
 *   <li>{@code tls=true}: TLS to all of them
 * </ul>
 *
 * <p>A lock is a string key at each server, made of the name prefix and its name. With an empty prefix it is the key that
 * other RedLock libraries and a hand-written {@code SET NX PX} have. The servers must run Lua scripts.
 */
public final class RedlockProvider implements LockStoreProvider {

    /** For the service loader. */
    public RedlockProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("redlock");
    }

    @Override
    public LockStore open(URI uri, StoreContext context) {
        RedlockUri parsed = RedlockUri.parse(uri);
        QuorumStores.Builder quorum = parsed.settings();
        SharedThreads threads = new SharedThreads();
        for (RedisSettings server : parsed.servers()) {
            quorum.member(server.describe(), client -> MemberOpening.open(server, threads, client));
        }
        return new KeyedStore(quorum.open(context), parsed.servers().get(0).lockKeys());
    }
}
