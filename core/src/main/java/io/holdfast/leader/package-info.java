/**
 * Methods that run only on the leader, for the modules that put them behind an annotation: {@code Candidates} →
 * {@code Candidate} → {@code TermCalls} → {@code LeaderCall}.
 *
 * <p>Not for users: the module exports this package to those modules only, so it may change at any time.
 */
@NullMarked
package io.holdfast.leader;

import org.jspecify.annotations.NullMarked;
