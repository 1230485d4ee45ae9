/**
 * A distributed lock: while one node holds a name, no other node can.
 *
 * <p>Start at {@link io.holdfast.LockClient}. It gives a {@link io.holdfast.Lease}: the right to a name for a bounded
 * time, renewed while it is held. {@link io.holdfast.DistributedLock} shows the same as a {@link
 * java.util.concurrent.locks.Lock} that a thread owns. Which guarantees hold depends on the store behind it. No lock
 * with a lease can protect a resource from a holder that was paused past its lease. So hand {@link
 * io.holdfast.Lease#fencingToken()} to the resource, and let it refuse smaller numbers.
 *
 * <p>No parameter and no result is null unless it is marked {@code @Nullable}; a method that is given null throws {@link
 * NullPointerException}.
 *
 * <p>The engine behind the API is in the package {@code io.holdfast.engine}, what observes it is in {@code
 * io.holdfast.observe}; neither is exported. This is the path of {@code acquire(name)} to a script of the Redis store:
 * the classes that decide or send something, in order. Helpers that check an argument, make an id or only pass a call on
 * are left out.
 *
 * <pre>
 *  1  AcquireForms       superclass of LockClient, the API; the caller's thread waits in its Waiter
 *     ───────────────────────────────────────────── package io.holdfast.engine ──
 *  2  Engine             one for each client: makes the Waiter, finds the engine of the name
 *  3  Waiter             the caller: its options, deadline and outcome
 *  4  NameEngine         one for each name in use. Its superclass EventLock handles one event at a time
 *  5  NameState          the decisions: a state machine without I/O, threads or timers
 *  6  Tenure               the half that holds the name: may give an open lock to the caller at once
 *  7  WaitQueue            the local waiters, first come first served
 *  8  Contention           the half that asks the store, for all of them
 *  9  Attempt                what it asks for: a holder id, a length, a place in the queue
 * 10  NameEffects        superclass of NameEngine: carries the decision out (interface Effects)
 *     ───────────────────────────────────────────── interface LockStore, with an AcquireRequest ──
 * 11  GuardedStore       turns whatever a store throws into a failed stage, and checks the bases of tokens
 *     ───────────────────────────────────────────── module holdfast-redis ──
 * 12  KeyedStore         from lock names to Redis keys
 * 13  LuaLockStore       the store by scripts: one method for each command
 * 14  LuaAcquires          the steps and arguments of an acquire, and what its reply means
 * 15  ServerClock          whether the server's time is known, and after which time it is to refuse the command
 * 16  Subscriptions        whether grants arrive here; if not, the first acquire asks for no place in the queue
 * 17  Scripts            runs a script by its digest on the shared connection, and again if the server has forgotten it
 * 18  ScriptArgs           keys and arguments as they go over the wire
 *     EVALSHA              acquire.lua
 * </pre>
 *
 * <p>The reply comes back as an event of the state, {@code NameState.onAcquired}. Around that path: {@code
 * RenewalTimer} knows which hold is due when, {@code Upkeep} has the rules of renewal, and {@code Compensation}
 * withdraws abandoned acquisitions, and holds whose release failed, until the store confirms. The engine
 * tells what happens by the interface {@code LockEvents}; {@code Observability} passes it on to the listener, the flight
 * recorder, the tracer, the card and the log. Waiters, leases and holds know their name only as {@code NameEvents}.
 *
 * <p>{@link io.holdfast.Permits} go another way at first: {@code PoolEngine} makes a {@code Lane} for each acquisition,
 * which is a {@code NameEngine} with one waiter. From there on the path is the same, through the {@code Gate} of the name
 * and by the view of {@link io.holdfast.spi.LockStore#pools}.
 */
@NullMarked
package io.holdfast;

import org.jspecify.annotations.NullMarked;
