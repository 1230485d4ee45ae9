/**
 * Locks in one Redis or Valkey server, through Lettuce and Lua scripts.
 *
 * <p>Users need nothing from here but a URI: {@link io.holdfast.redis.RedisLockStoreProvider} says which. Every command
 * of the store is one script (in the resources, {@code *.lua}) and one round trip; the rules of exclusion live there,
 * and the Java side keeps no state of a lock.
 */
@NullMarked
package io.holdfast.redis;

import org.jspecify.annotations.NullMarked;
