/** A Redis server as one member of a quorum. */
@NullMarked
package io.holdfast.redis.member;

import org.jspecify.annotations.NullMarked;
