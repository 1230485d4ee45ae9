/**
 * A distributed lock: take a name on one node, and no other node has it meanwhile.
 *
 * <p>Start at {@link io.holdfast.LockClient}. What one holds is a {@link io.holdfast.Lease}: the right to a name for a
 * bounded time, renewed while it is held. {@link io.holdfast.DistributedLock} shows the same as a
 * {@link java.util.concurrent.locks.Lock} that a thread owns. Which guarantees hold depends on the store that is behind
 * it; no lock with a lease can by itself protect a resource from a holder that was paused past its lease, so hand
 * {@link io.holdfast.Lease#fencingToken()} to the resource and let it refuse smaller numbers.
 *
 * <p>The engine behind the API is package-private here. Its parts, from the outside in: {@code NameEngine} (one for each
 * name in use: the lock around the state, the only place that talks to the store), {@code NameState} (the decisions: a
 * state machine without I/O, threads or clock), {@code RenewalTimer} (which hold is due when) and {@code Compensation}
 * (holds and queue places that nobody wants any more are withdrawn until the store confirms).
 */
@NullMarked
package io.holdfast;

import org.jspecify.annotations.NullMarked;
