package io.holdfast.zookeeper;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreProvider;
import io.holdfast.spi.StoreContext;
import java.net.URI;
import java.util.Set;

/**
 * Opens {@code zookeeper://[user:password@]host[:port][,host[:port]…][/folder][?option=value&…]}.
 *
 * <pre>{@code
 * try (LockClient locks = LockClient.connect("zookeeper://zk1,zk2,zk3/locks?sessionTimeout=10s")) {
 *     locks.run("order:42", lease -> orders.refund(42, lease.fencingToken()));
 * }
 * }</pre>
 *
 * <p>The folder, {@code /holdfast} by default, has one node for each lock, and {@code ~pools} for permits; it is
 * created if it is missing. User and password are those of the scheme {@code digest}; characters such as {@code @ : / #
 * ? %} in them are percent-encoded. Options:
 *
 * <ul>
 *   <li>{@code sessionTimeout}: the session timeout to request, from {@code 300ms} to {@code 10m}; {@code 30s}
 *       by default. The ensemble has bounds of its own, 2 to 20 ticks. After the death of a process its locks are free
 *       within that time. A lease is promised for up to two thirds of it, and renewed
 *   <li>{@code timeout}: how long to wait for the answer to a command, from {@code 100ms} to {@code 60s}; {@code 5s} by
 *       default
 *   <li>{@code acl}: {@code open} (all rights for everybody; the default without a login), {@code creator} (rights only
 *       for this login; the default with a login) or {@code read} (others may look)
 *   <li>{@code tls}: {@code true} for TLS
 *   <li>{@code ca}: a PEM file with the certificates to trust instead of the JVM's, with {@code tls=true}
 *   <li>{@code cert}: a PEM file with a certificate and its private key, to show to the servers, with {@code tls=true}
 * </ul>
 *
 * <p>The servers are ZooKeeper 3.5 or newer.
 */
public final class ZooKeeperLockStoreProvider implements LockStoreProvider {

    @Override
    public Set<String> schemes() {
        return Set.of("zookeeper");
    }

    @Override
    public LockStore open(URI uri, StoreContext context) {
        return ZooKeeperLockStore.open(ZooKeeperSettings.parse(uri), context);
    }
}
