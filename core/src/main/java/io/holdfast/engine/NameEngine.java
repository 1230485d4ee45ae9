package io.holdfast.engine;

import io.holdfast.LockException;
import io.holdfast.engine.LockEvents.NameVisitor;
import io.holdfast.engine.LockEvents.WaitTrace;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One name in use: the lock around its {@link NameState}. Every event of the name comes in through {@link #handle},
 * {@link #ask} or {@link #find}. Most methods only pass a call on to the state. They are here because they carry the
 * lock, without which no caller may reach the state.
 */
@SuppressWarnings("serial") // nobody writes it anywhere
class NameEngine extends NameEffects implements NameEvents {

    private final NameState state; // by lock
    private boolean retired; // by lock; not in the engine's map any more

    /** The lease that is out, for threads that ask whether it is theirs. Written under the lock, read anywhere. */
    private volatile @Nullable ActiveLease current;

    NameEngine(EngineParts engine, String name) {
        super(engine, name);
        this.state = new NameState(this);
    }

    @Override
    final NameState state() {
        return state;
    }

    /** Not as a field: some clients have ten thousand of these. */
    @Override
    public EngineSettings settings() {
        return engine.settings;
    }

    @Override
    public Upkeep upkeep() {
        return engine.upkeep;
    }

    @Override
    public Callbacks callbacks() {
        return engine.callbacks;
    }

    @Override
    public @Nullable ActiveLease current() {
        return current;
    }

    @Override
    public Collection<ActiveLease> blocking() {
        ActiveLease lease = current;
        return lease == null ? List.of() : List.of(lease);
    }

    // --- arrivals ---

    /** Returns false if this engine has been retired: the caller takes a new one. */
    boolean submit(Waiter waiter) {
        return ask(false, state -> arrive(state, waiter));
    }

    /** Takes a waiter in, under the lock. Returns false if its caller takes another engine. */
    boolean arrive(NameState state, Waiter waiter) {
        if (retired) {
            return false;
        }
        waiter.onSubmitted(this);
        state.onArrived(waiter);
        armDeadline(waiter);
        if (waiter.state == Waiter.State.PENDING) {
            engine.events.waiting(waiter.arrivedNanos);
            noteHolder(waiter);
        }
        return true;
    }

    /** Tells who follows the wait which holder is in the way. */
    private void noteHolder(Waiter waiter) {
        WaitTrace trace = waiter.trace;
        ActiveLease lease = state.tenure.lease();
        if (trace != null && lease != null) {
            trace.waitsForOwn(lease.holderId(), lease.traceParent());
        } else if (trace != null) {
            trace.waitsFor(state.contention().holder());
        }
    }

    /** The place of a name in a {@link MultiAttempt}: the attempt and its request, which is sent with the others. */
    record Reservation(NameEngine engine, Waiter waiter, Attempt attempt, ClockReading sent, AcquireRequest request) {}

    /** Begins an attempt whose command the caller sends. Returns null if the name is in use here, or was until now. */
    @Nullable
    Reservation reserve(Waiter waiter) {
        return find(state -> {
            Attempt attempt = retired ? null : state.reserve(waiter);
            if (attempt == null) {
                return null;
            }
            waiter.onSubmitted(this);
            armDeadline(waiter);
            ClockReading sent = attempt.markSending(time(), engine.settings.nonces);
            waiter.command = sent;
            return new Reservation(this, waiter, attempt, sent, request(attempt));
        });
    }

    private void armDeadline(Waiter waiter) {
        if (waiter.state == Waiter.State.PENDING && waiter.waitNanos > 0 && waiter.waitNanos != Waiter.NO_DEADLINE) {
            scheduleTimeout(waiter, waiter.waitNanos);
        }
    }

    @Override
    public void scheduleTimeout(Waiter waiter, long delayNanos) {
        waiter.timer = time().schedule(delayNanos, () -> onLeave(waiter, Waiter.State.TIMED_OUT, null));
    }

    /** A release by force of the name, sent through this client. */
    record Force(NameEngine engine, @Nullable Hold before) {

        /** @param removed whether the store says that it ended a hold */
        void onEnded(boolean removed) {
            engine.handle(state -> state.onForced(before, removed));
        }
    }

    /**
     * Announces such a command, which the caller sends. Returns null if this engine has been retired.
     *
     * @param holder the expected holder; null for whichever has the name
     */
    @Nullable
    Force beginForce(@Nullable String holder) {
        return find(state -> retired ? null : new Force(this, state.onForcing(holder)));
    }

    // --- events from waiters, leases and holds ---

    @Override
    public void onClaim(Waiter waiter) {
        handle(state -> {
            if (waiter.state == Waiter.State.PENDING) {
                state.tenure.handOutIfOpen();
            }
        });
    }

    @Override
    public boolean onLeave(Waiter waiter, Waiter.State outcome, @Nullable LockException why) {
        return ask(false, state -> {
            if (waiter.state != Waiter.State.PENDING) {
                return false;
            }
            state.onLeave(waiter, outcome, why);
            return true;
        });
    }

    @Override
    public void onDelivered(ActiveLease lease) {
        handle(state -> lease.noteDelivered());
    }

    @Override
    public void onReleased(ActiveLease lease) {
        handle(state -> state.tenure.onReleased(lease));
    }

    @Override
    public void onRetained(ActiveLease lease, long endNanos) {
        handle(state -> state.tenure.onRetained(lease, endNanos));
    }

    @Override
    public void onExtending(LeaseExtension extension) {
        handle(extension::onAsked);
    }

    @Override
    public boolean onTied(ActiveLease lease) {
        return ask(false, state -> state.tenure.onTied(lease));
    }

    @Override
    public LockStore store() {
        return GuardedStore.opened(engine.store);
    }

    @Override
    public void onLeaseOver(ActiveLease lease) {
        handle(state -> state.tenure.onLeaseOver(lease));
    }

    @Override
    public @Nullable RenewRequest onRenewalDue(Hold hold, ClockReading sent, boolean jumped) {
        return find(state -> state.tenure.onRenewalDue(hold, sent, jumped));
    }

    @Override
    public void onRenewed(
            Hold hold, RenewRequest request, ClockReading sent, @Nullable RenewReply reply, @Nullable Throwable error) {
        handle(state -> state.tenure.onRenewed(hold, request, sent, reply, error));
    }

    @Override
    public Hold newHold(Attempt attempt, long base, Deadline deadline, long sinceNanos, long leaseNanos) {
        return new Hold(
                this,
                attempt.acquisition,
                base,
                deadline,
                time().nanoTime(),
                sinceNanos,
                leaseNanos,
                Math.max(leaseNanos, attempt.leaseNanos));
    }

    // --- for observers ---

    /** Shows the name, unless nobody here holds it or waits for it. */
    void visit(NameVisitor visitor) {
        handle(state -> show(state, visitor));
    }

    void show(NameState state, NameVisitor visitor) {
        ActiveLease lease = state.tenure.lease();
        Waiter first = state.firstWaiter();
        if (lease != null || first != null) {
            String holder = lease != null ? null : state.contention().holder();
            visitor.visit(this, lease, first, state.waiting(), holder);
        }
    }

    /** Shows the name if somebody waits for it, as far as that can be seen without the lock. */
    void visitWaits(NameVisitor visitor) {
        if (!state.hasNoWaiters()) {
            visit(visitor);
        }
    }

    /** Returns the delay of the renewal of the lease that is out; zero if none is due. */
    long renewalLagNanos() {
        return ask(0L, state -> state.tenure.renewalLagNanos());
    }

    // --- after each event ---

    /**
     * Drops what is not needed: timers, and the name itself when nobody holds or waits (engine rule 13). The answer to
     * the last release comes after that, and changes nothing of the name.
     */
    @Override
    void settle() {
        if (retired) {
            return;
        }
        boolean unused = state.settle();
        if (!state.isContending()) {
            cancelPoll();
        }
        if (unused) {
            retired = true;
            engine.retire(this);
        }
    }

    @Override
    public void publish(@Nullable ActiveLease lease) {
        if (current != lease) {
            // Most events leave it as it is, and a volatile write costs more than a read.
            current = lease;
        }
    }
}
