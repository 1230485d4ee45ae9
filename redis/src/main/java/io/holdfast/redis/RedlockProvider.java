package io.holdfast.redis;

import io.holdfast.quorum.QuorumStores;
import io.holdfast.redis.connect.SharedThreads;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreProvider;
import io.holdfast.spi.StoreContext;
import java.net.URI;
import java.util.Set;

/**
 * Opens {@code redlock://[user:password@]host1[:port],host2[:port],host3[:port][/database][?option=value&…]}: a quorum
 * of independent single Redis servers. {@link QuorumStores} states the conditions.
 *
 * <pre>{@code
 * try (LockClient locks = LockClient.connect("redlock://redis1,redis2,redis3?longestLease=2m")) {
 *     locks.run("order:42", lease -> orders.refund(42, lease.fencingToken()));
 * }
 * }</pre>
 *
 * <p>User, password and database are the same for all servers. The options are those of {@code redis://}, without
 * {@code minReplicas}, {@code mode} and {@code redissonChannels}, and these:
 *
 * <ul>
 *   <li>{@code memberTimeout}: the longest wait for one member; {@code 100ms} by default
 *   <li>{@code longestLease}: the longest lease that any client asks for; {@code 60s} by default. A restarted server
 *       does not vote for this time. All clients must have the same value
 *   <li>{@code clockDrift}: the largest difference between the rates of two clocks; {@code 0.01} by default
 *   <li>{@code bootstrap=true}: lets servers that are all new vote at once; for the first start
 *   <li>{@code tls=true}: uses TLS to all servers
 * </ul>
 *
 * <p>A lock is a string key at each server: the name prefix and the lock's name. With an empty prefix, other RedLock
 * libraries and hand-written {@code SET NX PX} locks use the same key. The servers must run Lua scripts.
 */
public final class RedlockProvider implements LockStoreProvider {

    /** Creates a provider; for the service loader. */
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
        LockStore store = quorum.open(context);
        return new KeyedStore(store, parsed.servers().get(0).lockKeys(), store.cards(), store::diagnose);
    }
}
