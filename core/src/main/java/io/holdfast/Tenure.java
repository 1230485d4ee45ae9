package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.ClockReading;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@link NameState} that holds the name at the store and hands it out here, one lease after the other.
 *
 * <p>Invariants: {@code lease != null ⇒ hold != null}; with a hold but no lease, either the length for the next
 * lease is being set, or the lock is open and a waiter was woken to claim it; at most one lease of this client is valid, as the next is made only after the last one's state
 * has left HELD.
 */
final class Tenure {

    /** Below this fraction of its length, a hold is renewed before it is handed on. */
    private static final int HAND_OFF_MARGIN = 5;

    private final NameState state;
    private @Nullable Hold hold;
    private @Nullable ActiveLease lease;

    /** When a waiter was last woken to take the lock: the beginning of its turn. */
    private long turnNanos;

    Tenure(NameState state) {
        this.state = state;
    }

    private TimeSource time() {
        return state.settings.time;
    }

    private Upkeep upkeep() {
        return state.settings.upkeep;
    }

    boolean isActive() {
        return hold != null;
    }

    boolean isOf(String holderId) {
        return hold != null && hold.isOf(holderId);
    }

    @Nullable
    ActiveLease lease() {
        return lease;
    }

    void begin(Hold acquired) {
        hold = acquired;
        // The machine may have been suspended while the store's answer was on its way.
        acquired.deadline = acquired.deadline.asOf(ClockReading.now(time()));
        handOut(acquired, acquired.leaseNanos);
    }

    void contended(String holderId) {
        if (hold != null && hold.isOf(holderId)) {
            hold.contended = true;
        }
    }

    void lost(String holderId) {
        if (hold != null && hold.isOf(holderId)) {
            holdGone(hold);
        }
    }

    void released(ActiveLease ended) {
        Hold held = hold;
        if (held == null || lease != ended) {
            state.effects.released(ended, true);
            return;
        }
        lease = null;
        if (state.nobodyWaits()) {
            drop(held);
            state.effects.sendRelease(held, ended);
        } else {
            state.effects.released(ended, false);
            if (mayLeaveOpen(held)) {
                held.open = true;
                state.effects.nudge(requireNonNull(state.firstWaiter()));
                watch(held);
            } else {
                handOut(held, 0);
            }
        }
    }

    /**
     * The owner is done, but the name is to stay locked until then. The hold is dropped here and left at the store, which ends
     * it by itself; who waits here asks the store like anybody else.
     */
    void retained(ActiveLease ended, long endNanos) {
        Hold held = hold;
        if (held == null || lease != ended) {
            state.effects.released(ended, true);
            return;
        }
        lease = null;
        drop(held);
        held.sequence++;
        state.effects.sendRetain(held, ended, endNanos);
        if (!state.nobodyWaits()) {
            state.startContention();
        }
    }

    /**
     * A command is about to be sent that removes whatever hold there is on the name.
     *
     * @return the hold that it may remove
     */
    @Nullable
    Hold forcing() {
        if (hold != null) {
            hold.forced = true;
        }
        return hold;
    }

    /**
     * That command ended.
     *
     * @param before the hold at its beginning
     * @param removed whether the store says that it removed one; if not, perhaps it still does
     */
    void forced(@Nullable Hold before, boolean removed) {
        Hold held = hold;
        if (held == null || held != before) {
            return;
        }
        if (removed) {
            holdLost(held, "it was removed by force through this client");
        } else if (lease != null) {
            upkeep().askNow(held, time().nanoTime());
            watch(held);
        }
    }

    /** A running thread takes a lock that was left open, before the one that was woken for it. */
    boolean tryBarge(Waiter arriving) {
        Hold held = hold;
        if (held == null || !held.open || arriving.options.isFair() || !canTakeAtOnce(held, arriving)) {
            return false;
        }
        grant(held, arriving);
        return true;
    }

    void claim(Waiter woken) {
        if (hold != null && hold.open) {
            state.waiters().remove(woken);
            if (canTakeAtOnce(hold, woken)) {
                turnNanos = time().nanoTime();
                grant(hold, woken);
            } else {
                state.waiters().addFirst(woken);
                handOut(hold, 0);
            }
        }
    }

    /** The one who was woken for an open lock may be gone: it must not stay unused. */
    void waiterLeft() {
        if (hold != null && hold.open) {
            handOut(hold, 0);
        }
    }

    void leaseOver(ActiveLease over) {
        if (over == lease && hold != null) {
            endIfOver(hold, ClockReading.now(time()));
        }
    }

    void close() {
        Hold held = hold;
        if (held != null) {
            loseLease("the client was closed", false);
            drop(held);
            state.effects.sendRelease(held, null);
        }
    }

    void renewed(
            Hold renewed,
            RenewRequest request,
            ClockReading sent,
            @Nullable RenewReply reply,
            @Nullable Throwable error) {
        // A length was set after this request was sent: what it brought about is history.
        if (renewed != hold || request.sequence() < renewed.sequence) {
            return;
        }
        if (reply instanceof RenewReply.Renewed seen && request.isLook()) {
            upkeep().seen(renewed, seen, sent);
            watch(renewed);
        } else if (reply instanceof RenewReply.Renewed extended) {
            ClockReading now = ClockReading.now(time());
            if (extend(renewed, request, sent, extended, now)) {
                watch(renewed, now.nanos());
            }
        } else if (reply instanceof RenewReply.Gone) {
            holdGone(renewed);
        } else if (error != null) {
            state.effects.renewalFailed(renewed, error);
            upkeep().failed(renewed, time().nanoTime());
            watch(renewed);
        }
    }

    void prepared(
            Hold prepared,
            RenewRequest request,
            ClockReading sent,
            @Nullable RenewReply reply,
            @Nullable Throwable error) {
        if (prepared != hold) {
            return;
        }
        if (reply instanceof RenewReply.Renewed extended) {
            if (extend(prepared, request, sent, extended, ClockReading.now(time()))) {
                handOut(prepared, request.leaseMillis() * 1_000_000);
            }
        } else {
            // Gone, or which length it has now is not known; and nobody relies on it yet.
            if (error != null) {
                state.effects.renewalFailed(prepared, error);
            }
            holdLost(prepared, "");
        }
    }

    @Nullable
    RenewRequest renewalDue(Hold due, ClockReading sent, boolean jumped) {
        if (due != hold) {
            return null;
        }
        if (jumped) {
            upkeep().jumped(due, sent);
        }
        if (endIfOver(due, sent)) {
            return null;
        }
        long length = upkeep().due(due, lease, sent);
        watch(due, sent.nanos());
        if (length == Upkeep.NOTHING_DUE) {
            return null;
        }
        if (lease != null && lease.noticeForgotten()) {
            state.effects.forgotten(lease);
        }
        // Who waits elsewhere matters only to those who pass the lock on here.
        boolean counted = !state.nobodyWaits() || due.wasHandedOn();
        if (counted) {
            due.lookedOutNanos = sent.nanos();
        }
        // A length of zero makes it a look.
        return RenewRequest.extend(state.effects.name(), due.holderId(), length / 1_000_000, due.sequence)
                .counted(counted);
    }

    /** Since when a renewal was due that is not confirmed; zero if none is due. */
    long renewalLagNanos() {
        return hold == null || lease == null ? 0 : upkeep().lagNanos(hold, lease);
    }

    // --- handing out ---

    /**
     * Gives the hold, on which no lease is out, to the next waiter, or back to the store.
     *
     * @param lengthNanos the length that the store has just confirmed, or zero if that was some time ago
     */
    private void handOut(Hold held, long lengthNanos) {
        held.open = false;
        Waiter next = state.firstWaiter();
        if (next == null) {
            drop(held);
            state.effects.sendRelease(held, null);
        } else if (held.deadline.hasPassed(time())) {
            holdLost(held, "");
        } else if (tenureIsOver(held, next)) {
            drop(held);
            Attempt attempt = state.effects.newAttempt(state.storeLease(next), true);
            state.continueContention(attempt);
            state.effects.sendReleaseAndRequeue(held, attempt);
        } else if (lengthNanos == state.storeLease(next) || hasRightLength(held, next)) {
            state.waiters().remove(next);
            turnNanos = time().nanoTime();
            grant(held, next);
        } else {
            prepare(held, next);
        }
    }

    /**
     * Whether the lock is left open for running threads: to wake a parked one takes longer than most critical sections.
     * Once the first waiter has waited for a while, only in the short turn of the thread that was woken last: so nobody
     * starves, and yet a wake-up is not the price of each acquisition when very many wait.
     */
    private boolean mayLeaveOpen(Hold held) {
        Waiter next = requireNonNull(state.firstWaiter());
        long now = time().nanoTime();
        boolean patient = now - next.arrivedNanos < state.settings.bargeNanos;
        boolean inTurn = now - turnNanos < state.settings.turnNanos;
        return next.isThread() && !next.options.isFair() && (patient || inTurn) && canTakeAtOnce(held, next);
    }

    private boolean canTakeAtOnce(Hold held, Waiter next) {
        return !held.deadline.hasPassed(time()) && !tenureIsOver(held, next) && hasRightLength(held, next);
    }

    private boolean tenureIsOver(Hold held, Waiter next) {
        long most = next.options.tenure().map(Duration::toNanos).orElse(state.settings.tenureNanos);
        boolean longEnough = time().nanoTime() - held.acquiredNanos >= most;
        boolean shared = held.contended && !held.isFresh();
        return held.forced || !held.hasTokenLeft() || (shared && longEnough);
    }

    /**
     * Whether the store need not be told another length for this waiter. A lease with a length of its own must end by
     * then at the store too, and only a setting makes sure of that: a renewal sent before may be executed after this.
     * Any other lease needs time enough for its first renewal, and no more than a lease: if this process dies, the name
     * is free within that.
     */
    private boolean hasRightLength(Hold held, Waiter next) {
        return next.boundNanos() == 0
                && !held.mayOutlast(state.settings.leaseNanos, time().nanoTime())
                && held.deadline.remainingNanos(time())
                        >= Math.min(state.settings.leaseNanos, held.leaseNanos) / HAND_OFF_MARGIN;
    }

    private void prepare(Hold held, Waiter next) {
        boolean exact = next.boundNanos() > 0 || held.mayOutlast(state.storeLease(next), time().nanoTime());
        if (exact) {
            held.sequence++;
        }
        held.asking(Math.max(held.leaseNanos, state.storeLease(next)));
        String name = state.effects.name();
        long leaseMillis = state.storeLease(next) / 1_000_000;
        RenewRequest request = exact
                ? RenewRequest.set(name, held.holderId(), leaseMillis, held.sequence)
                : RenewRequest.extend(name, held.holderId(), leaseMillis, held.sequence);
        watch(held);
        state.effects.sendPreparation(held, request);
    }

    /** The waiter is not in the queue (any more). */
    private void grant(Hold held, Waiter next) {
        held.open = false;
        long now = time().nanoTime();
        long limit = next.options.holdAtMost().map(most -> now + most.toNanos()).orElse(ActiveLease.NO_LIMIT);
        boolean renewed = next.options.leaseFor().isEmpty();
        ActiveLease granted = next.leaseOn(held, now, limit, renewed);
        lease = granted;
        upkeep().begin(held, granted, !state.nobodyWaits(), now);
        watch(held);
        state.effects.granted(next, granted);
    }

    // --- keeping ---

    /** Counts a renewal that the store confirmed. False if that came too late, and the hold is lost. */
    private boolean extend(
            Hold renewed, RenewRequest request, ClockReading sent, RenewReply.Renewed reply, ClockReading now) {
        boolean counts = upkeep().confirmed(renewed, lease, request, sent, reply, now);
        if (counts) {
            state.effects.renewalSucceeded(renewed);
        } else {
            holdLost(renewed, "its time ran out before the store confirmed a renewal");
        }
        return counts;
    }

    /** Ends the lease, or hold and lease, if its time had passed when the clocks were read. */
    private boolean endIfOver(Hold held, ClockReading now) {
        ActiveLease out = lease;
        boolean holdOver = held.deadline.hasPassed(now);
        if (!holdOver && (out == null || !out.isAtLimit(now.nanos()))) {
            return false;
        }
        String why = out == null ? "" : whyOver(held, out);
        if (holdOver) {
            holdLost(held, why);
        } else {
            loseLease(why, false);
            handOut(held, 0);
        }
        return true;
    }

    private String whyOver(Hold held, ActiveLease out) {
        if (!out.renewed && !held.isPartlyPromised()) {
            return "its fixed time is over";
        }
        if (held.looksOnly || out.isAtLimit()) {
            return "its longest holding time is over";
        }
        return upkeep().isKeptUp(held, out) ? "its time ran out without a successful renewal" : "its thread has died";
    }

    /** The hold is not ours any more, or must not be relied on. */
    private void holdLost(Hold held, String why) {
        holdLost(held, why, false);
    }

    /** The store has just said so. */
    private void holdGone(Hold held) {
        holdLost(held, "the store says that it expired, was removed or was taken", true);
    }

    private void holdLost(Hold held, String why, boolean answered) {
        loseLease(why, answered);
        drop(held);
        // It may still be there (we stop before the store does), and then others need not wait for its end.
        state.effects.abandon(held);
        state.startContention();
    }

    private void loseLease(String why, boolean answered) {
        ActiveLease out = lease;
        lease = null;
        if (out != null && out.lose(why)) {
            state.effects.lost(out, why, answered);
        }
    }

    private void drop(Hold held) {
        hold = null;
        state.effects.forget(held);
    }

    private void watch(Hold held) {
        watch(held, time().nanoTime());
    }

    /** As above. Each reading of the clock that is spared is seen in what a renewal costs. */
    private void watch(Hold held, long now) {
        state.effects.watch(held, upkeep().nextLookNanos(held, lease, now));
    }
}
