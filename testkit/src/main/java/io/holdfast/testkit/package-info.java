/**
 * The test tools of Holdfast: the contract that every store passes, private real servers, a proxy that breaks the
 * network, and a detector of overlapping critical sections.
 *
 * <p>{@link io.holdfast.testkit.RedisServer}, {@link io.holdfast.testkit.RedisReplication},
 * {@link io.holdfast.testkit.RedisCluster} and {@link io.holdfast.testkit.FaultProxy} need no test library.
 */
@NullMarked
package io.holdfast.testkit;

import org.jspecify.annotations.NullMarked;
