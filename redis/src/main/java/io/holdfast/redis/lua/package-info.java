/**
 * The store that keeps locks by Lua scripts: the scripts (in the resources of this package), how they are sent, and what they answer.
 * The rules of exclusion are in the scripts; the Java side keeps no state of a lock.
 */
@NullMarked
package io.holdfast.redis.lua;

import org.jspecify.annotations.NullMarked;
