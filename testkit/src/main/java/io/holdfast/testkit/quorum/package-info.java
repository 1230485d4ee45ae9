/**
 * A member of a quorum in the process of the test, see {@link io.holdfast.testkit.quorum.MemoryQuorumNode}: the
 * reference implementation of a member.
 */
@NullMarked
package io.holdfast.testkit.quorum;

import org.jspecify.annotations.NullMarked;
