@NullMarked
package io.holdfast.redis.server;

import org.jspecify.annotations.NullMarked;
