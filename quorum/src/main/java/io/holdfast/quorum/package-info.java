/**
 * A lock store made of several independent servers: RedLock, with fencing tokens that hold across quorums.
 *
 * <p>Source of the algorithm: "Distributed Locks with Redis" in the Redis documentation. A client asks all servers (the
 * <em>members</em>, {@link io.holdfast.quorum.QuorumMember}) at once, and holds a name when a majority has granted it.
 * It counts the lease from before the first request, less the possible drift of clocks.
 * {@link io.holdfast.quorum.QuorumStores} says what must hold for that.
 *
 * <h2>Tokens</h2>
 *
 * <p>That page asks for fencing tokens (Martin Kleppmann, "How to do distributed locking", 2016) but has no algorithm
 * for them. Here each member keeps a register for each name, {@code T = (token, id)}
 * ({@link io.holdfast.quorum.TokenRegister}), and each acquisition has an id of its own.
 *
 * <ol>
 *   <li><b>Propose</b>, within the request for the lock: where it is granted, and if {@code T.token < p} or
 *       {@code T = (p, id)}, the member writes {@code T := (p, id)}. The proposal is the client's clock, so it is
 *       usually larger than all before.
 *   <li>If a majority granted the lock and accepted {@code p}, the token is {@code p}: one round trip.
 *   <li><b>Commit</b> otherwise, {@code t} = the largest number in the replies + 1: each member writes
 *       {@code T := (t, id)} if {@code T.token < t} or {@code T = (t, id)}, and otherwise refuses and answers its
 *       number. A majority of writes, at members that granted the lock, makes {@code t} the token; a refusal by one of
 *       them begins this step again with a larger one.
 *   <li>Only then, and only if the lease has not run out in the meantime, the lock counts as held.
 * </ol>
 *
 * <p><b>Unique:</b> a token that was handed out was written by a majority, a member accepts each number from one id
 * only, and two majorities have a member in common. <b>Ordered:</b> if {@code a} was committed before another
 * acquisition began, a member of the majority that wrote {@code a} is also in the majority that writes {@code b}; its
 * number was at least {@code a} then, and it accepts only larger ones. <b>Without locks, leases or clocks:</b> the
 * argument mentions none of them. So tokens are unique and ordered even when a lease was overrun and two clients are at
 * work; the guarded resource then accepts one of them. <b>In the order of the leases</b>, as long as locks exclude,
 * even for acquisitions that were under way at the same time: a member that granted the lock for {@code a} has
 * {@code a} in its register before it grants it for {@code b}. A member that did not grant it may have granted it for
 * {@code b} before, so its write does not count.
 *
 * <p>All of this needs only that members do not forget {@code T}. A member that did forget has no vote for a
 * while ({@code Seat}), and proposals begin at the client's clock.
 *
 * <p>{@code TokenModelTest} explores all interleavings of two acquisitions at three members with this code: once where
 * locks vanish, once where they exclude and tokens must follow the order of the leases. It finds a counterexample for
 * each of four simpler schemes:
 *
 * <ul>
 *   <li>the largest of the members' counters: the same token twice
 *   <li>the largest + 1, written back without comparison: the same token twice
 *   <li>the same, only while the lock is still held there: the same token twice
 *   <li>as it is, but a write counts even at a member that did not grant the lock: a token smaller than that of the
 *       lease before
 * </ul>
 */
@NullMarked
package io.holdfast.quorum;

import org.jspecify.annotations.NullMarked;
