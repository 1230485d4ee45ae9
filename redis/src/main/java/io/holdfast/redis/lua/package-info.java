@NullMarked
package io.holdfast.redis.lua;

import org.jspecify.annotations.NullMarked;
