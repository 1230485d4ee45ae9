/**
 * The store of the Lua mode: the scripts (in the resources of this package), how they are sent, and what they answer.
 * The scripts contain the rules of exclusion; the Java side keeps no state of a lock.
 */
@NullMarked
package io.holdfast.redis.lua;

import org.jspecify.annotations.NullMarked;
