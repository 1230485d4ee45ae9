@NullMarked
package io.holdfast.redis.connect;

import org.jspecify.annotations.NullMarked;
