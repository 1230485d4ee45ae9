/**
 * Locks in Redis or Valkey, through Lettuce. Users need a URI ({@link io.holdfast.redis.RedisLockStoreProvider}
 * describes it), or {@link io.holdfast.redis.RedisStores} for settings in code.
 *
 * <p>The packages below are not exported. Each knows only those after it: this package (the public API, and the opening
 * of a store) → {@code member} → {@code lua}, {@code commands} → {@code connect} → {@code server}. The two enums
 * {@link io.holdfast.redis.RedisMode} and {@link io.holdfast.redis.RedissonChannels} are the exception: settings
 * contain them.
 */
@NullMarked
package io.holdfast.redis;

import org.jspecify.annotations.NullMarked;
