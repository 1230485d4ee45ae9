/**
 * Locks in Apache ZooKeeper, through Curator's framework.
 *
 * <p>Users need nothing from here but a URI: {@link io.holdfast.zookeeper.ZooKeeperLockStoreProvider} says which. A lock is
 * a folder with one ephemeral sequential node for each client that holds or waits; the first one holds. {@link
 * io.holdfast.zookeeper.Contender} is one such node.
 */
@NullMarked
package io.holdfast.zookeeper;

import org.jspecify.annotations.NullMarked;
