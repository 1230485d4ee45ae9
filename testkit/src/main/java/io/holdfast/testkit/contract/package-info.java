/**
 * The contract that every store must pass, as tests. {@link io.holdfast.testkit.contract.LockStoreContract} is the class
 * that a store's test extends. Its superclasses have the tests by subject, one above the other: the model, cards,
 * {@code acquireAll}, hand-off, the queue, renewals, holds. {@code StoreHarness}, the first of them, lists what a store's
 * test overrides: {@code open}, {@code elapse}, and one method for each ability that a store may lack.
 * {@link io.holdfast.testkit.contract.PoolContract} is the same for pools, with all tests of a lock: its superclasses add
 * those of read-write locks and of the queue of a pool.
 */
@NullMarked
package io.holdfast.testkit.contract;

import org.jspecify.annotations.NullMarked;
