@NullMarked
package io.holdfast.redis.commands;

import org.jspecify.annotations.NullMarked;
