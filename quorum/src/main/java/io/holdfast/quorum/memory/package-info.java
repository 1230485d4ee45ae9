/**
 * A member of a quorum in this process, see {@link io.holdfast.quorum.memory.MemoryQuorumNode}. It is the reference
 * implementation of {@link io.holdfast.quorum.QuorumMember}, as {@code io.holdfast.memory} is that of a store; models
 * and simulations compare other members with it.
 */
@NullMarked
package io.holdfast.quorum.memory;

import org.jspecify.annotations.NullMarked;
