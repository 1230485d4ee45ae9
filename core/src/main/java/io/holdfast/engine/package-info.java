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
 * <p>{@code PoolEngine} is a second engine beside {@code Engine}, for permits and read-write locks. Its names are {@code
 * Lane}s, each for one acquisition; a {@code ReadGroup} is a lane that readers share. So the first half of the engine
 * knows nothing of pools, except for what a {@code Lane} overrides.
 *
 * <p>The engine knows nothing of its observers: it reports what happens to {@code LockEvents}, and shows what it holds to
 * a {@code NameVisitor}.
 *
 * <p>Comments cite the engine's rules by the number that they have in {@code docs/engine-rules.md}.
 *
 * <p>Four other journeys, in the manner of that of an acquire. Each event of a name ends with {@code NameState.settle},
 * in which {@code Tenure} tells the timer when its hold is due next.
 *
 * <p>A release, while nobody waits here:
 *
 * <pre>
 *  1  LeaseHandle        the user's lease; not forgotten while it is being released
 *  2  ActiveLease        HELD → RELEASED, unless its time has passed
 *  3  NameEngine         takes the event in
 *  4  Tenure             takes the lease back and gives the hold up; or passes it on, to the first in the WaitQueue
 *  5  NameEffects        sends the release
 *  6  RenewalTimer         the hold is never due again
 *  7  Compensation         withdraws the hold until the store confirms it, if the release fails
 *     ───────────────────────────────────────────── interface LockStore, with a ReleaseRequest ──
 *  8  NameEngine         takes the answer in; the name is retired already
 *  9  NameEffects        reports the end
 * 10  Answer             the caller waited here
 * </pre>
 *
 * <p>The release enters {@code Tenure} twice: with its event, and when the event is settled.
 *
 * <p>A renewal:
 *
 * <pre>
 *  1  RenewalTimer       one for each client: asks each hold that is due, the most urgent first
 *  2  NameEngine         takes the event in
 *  3  Tenure             ends what is over
 *  4  Upkeep             whether a renewal or a look is due, of which length; plans the next try
 *  5  RenewalTimer       sends the requests of all names together
 *     ───────────────────────────────────────────── interface LockStore, with a RenewRequest each ──
 *  6  NameEngine         takes the answer for this name in
 *  7  Tenure             renewed, gone or failed
 *  8  Upkeep             what the answer is worth: the new deadline, and when to ask next
 *  9  RenewalTimer       knows the new time when the event has ended
 * </pre>
 *
 * <p>A grant that the store pushes:
 *
 * <pre>
 *     ───────────────────────────────────────────── interface StoreListener, with a PushedGrant ──
 *  1  Engine             whether the id is of this client, and of its present connection
 *  2  NameEngine         takes the event in
 *  3  NameState          whether somebody waits for this id; otherwise it is withdrawn
 *  4  Contention         whether the grant can be used without asking
 *  5  LeaseRules           whether the store sent it, and until when it is valid
 *  6  Tenure             begins with the new hold, and gives a lease to the first waiter
 *  7  Upkeep               plans the first renewal
 *  8  NameEffects        completes the waiter
 *  9  Waiter             wakes its thread, or completes its stage
 * </pre>
 *
 * <p>A loss, by the store's answer or message, or when the time has passed:
 *
 * <pre>
 *  1  Tenure             ends the lease and the hold
 *  2  ActiveLease        HELD → LOST, unless its owner was faster
 *  3  NameEffects        reports the loss
 *  4  LostHolds            so that the owner's unlock can say it
 *  5  Callbacks            those of onLost, on threads of their own
 *  6  Compensation       withdraws the hold, which may still be there
 *  7  Contention         asks anew, if somebody waits here
 * </pre>
 */
@NullMarked
package io.holdfast.engine;

import org.jspecify.annotations.NullMarked;
