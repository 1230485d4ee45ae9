/**
 * The test tools of Holdfast.
 *
 * <p><b>The author of a store</b> starts at {@link io.holdfast.testkit.contract.LockStoreContract}: the store's test
 * extends it, and overrides what its superclass {@code StoreHarness} lists. The other rooms:
 *
 * <ul>
 *   <li>{@link io.holdfast.testkit.servers}: private real servers, one or several that belong together.
 *   <li>{@link io.holdfast.testkit.faults}: a proxy that breaks the network.
 *   <li>{@link io.holdfast.testkit.torture}: a torture test for any lock, in several processes.
 * </ul>
 *
 * <p>This package has what a test of any lock needs: a detector of overlapping critical sections, and a recorder of
 * histories for {@link io.holdfast.history.HistoryChecker}.
 */
@NullMarked
package io.holdfast.testkit;

import org.jspecify.annotations.NullMarked;
