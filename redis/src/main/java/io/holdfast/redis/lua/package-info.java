/**
 * The store of mode {@code lua}: the scripts (resources of this package), their arguments and their replies. The
 * scripts contain the rules of exclusion; the Java side keeps no state of a lock.
 */
@NullMarked
package io.holdfast.redis.lua;

import org.jspecify.annotations.NullMarked;
