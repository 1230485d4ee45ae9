/**
 * Locks in Apache ZooKeeper, through Curator's framework.
 *
 * <p>Users need only a URI; {@link io.holdfast.zookeeper.ZooKeeperLockStoreProvider} describes it. A lock is a folder
 * with one ephemeral sequential node for each client that holds or waits. The first node holds. A pool is such a folder,
 * too: there as many of the first nodes hold as fit together.
 *
 * <p>The path of an acquire, in order: {@code ZooKeeperLockStore} finds the {@code Contender} of the holder id, whose
 * {@code SerialQueue} runs its commands and events one after the other. The contender creates its {@code OwnNode} in
 * the {@code Folder} through a {@code Session}, and sees its place in a {@code QueueSnapshot}. A node that waits has a
 * {@code PlaceWatch}. A {@code Proof}, which is a write that this session committed, turns a node that fits into a hold
 * ({@code HoldState}). {@code SessionClock}
 * and {@code PauseDetector} determine how long a promise may be.
 *
 * <p>The module has no {@code module-info}: the jars of ZooKeeper share two packages, so they cannot be on the module
 * path, and a module with a descriptor cannot read the class path. The jar's manifest names the module instead.
 */
@NullMarked
package io.holdfast.zookeeper;

import org.jspecify.annotations.NullMarked;
