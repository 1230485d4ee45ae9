/**
 * The engine behind the API: it keeps the locks of one client, for all its callers. Not exported: the public types are
 * public for other packages of this module only.
 *
 * <p>It has two halves. The first one decides, for one name, without I/O, threads or timers: {@code NameState} with
 * {@code Tenure} (the hold), {@code Contention} (the request at the store), {@code Upkeep} (its renewal) and {@code
 * WaitQueue}. It says what is to be done by the interface {@code Effects}. The second half runs that: {@code Engine},
 * {@code NameEngine}, {@code RenewalTimer}, {@code Compensation}, {@code KeptHolds} and {@code GuardedStore}. The first
 * half does not know the second. The head of {@link io.holdfast} lists the classes that an acquire passes.
 *
 * <p>The engine knows nothing of those who observe it: it tells what happens by {@code LockEvents}, and shows what it
 * holds to a {@code NameVisitor}.
 *
 * <p>Comments cite the engine's rules by the number that they have in {@code docs/engine-rules.md}.
 */
@NullMarked
package io.holdfast.engine;

import org.jspecify.annotations.NullMarked;
