@NullMarked
package io.holdfast.redis.member;

import org.jspecify.annotations.NullMarked;
