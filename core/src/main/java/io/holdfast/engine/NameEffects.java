package io.holdfast.engine;

import io.holdfast.LockException;
import io.holdfast.LockListener;
import io.holdfast.LockStoreException;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.Names;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.TimeSource;
import io.holdfast.store.StoreErrors;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Carries out what the state of one name decides: sends its commands, sets its timers, completes its waiters and
 * informs the listener.
 *
 * <p>Commands are sent during an event, so that they leave in the order of the decisions; the store may execute them in
 * another one. A reply that comes back during the sending is handled after the present event.
 */
@SuppressWarnings("serial") // nobody writes it anywhere
abstract class NameEffects extends EventLock<NameState> implements Effects {

    final EngineParts engine;
    private final String name;
    private TimeSource.@Nullable Timer pollTimer; // by lock

    NameEffects(EngineParts engine, String name) {
        this.engine = engine;
        this.name = name;
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public String storedName() {
        return name;
    }

    @Override
    public final String describeStore() {
        return engine.store.describe();
    }

    private long now() {
        return engine.settings.time.nanoTime();
    }

    // --- commands ---

    @Override
    public void sendAcquire(Attempt attempt) {
        ClockReading sent = attempt.markSending(engine.settings.time, engine.settings.nonces);
        engine.store
                .acquire(request(attempt))
                .whenComplete((reply, error) -> handle(state -> state.onAcquired(attempt, sent, reply, error)));
    }

    @Override
    public final void sendPreparation(Hold hold, RenewRequest request) {
        ClockReading sent = ClockReading.now(engine.settings.time);
        engine.store
                .renew(request)
                .whenComplete(
                        (reply, error) -> handle(state -> state.tenure.onPrepared(hold, request, sent, reply, error)));
    }

    @Override
    public final void sendExtension(Hold hold, LeaseExtension extension, RenewRequest request) {
        ClockReading sent = ClockReading.now(engine.settings.time);
        engine.store
                .renew(request)
                .whenComplete((reply, error) ->
                        handle(state -> extension.onAnswered(state, hold, request, sent, reply, error)));
    }

    @Override
    public final void sendRelease(Hold hold, @Nullable ActiveLease lease) {
        forget(hold);
        engine.compensation
                .release(ReleaseRequest.of(storedName(), hold.holderId()), hold.longestNanos())
                .whenComplete((reply, error) -> {
                    if (lease != null) {
                        handle(state -> endLease(lease, error == null && !reply.wasHeld()));
                    }
                });
    }

    @Override
    public void leave(Hold hold, ActiveLease lease) {
        leave(hold, List.of(lease));
    }

    final void leave(Hold hold, List<ActiveLease> leases) {
        leases.forEach(engine.events::left);
        forget(hold);
        engine.compensation.retain(hold.holderId());
        engine.store.leave(storedName(), hold.holderId(), () -> leases.stream().anyMatch(ActiveLease::isInUse));
    }

    @Override
    public final void sendRetain(Hold hold, ActiveLease lease, long endNanos) {
        forget(hold);
        engine.retention
                .keep(hold, endNanos)
                .whenComplete((wasGone, error) -> handle(state -> {
                    if (error == null) {
                        endLease(lease, wasGone);
                    } else {
                        endUnretained(lease, error);
                    }
                }));
    }

    @Override
    public final void sendReleaseAndRequeue(Hold hold, Attempt attempt) {
        forget(hold);
        ClockReading sent = attempt.markSending(engine.settings.time, engine.settings.nonces);
        engine.compensation
                .release(
                        ReleaseRequest.requeueing(storedName(), hold.holderId(), request(attempt)), hold.longestNanos())
                .whenComplete((reply, error) -> handle(state -> state.onRequeued(attempt, sent, reply, error)));
    }

    AcquireRequest request(Attempt attempt) {
        return attempt.request(storedName(), engine.settings.pollNanos);
    }

    @Override
    public final void abandon(String holderId, long leaseNanos) {
        engine.compensation.abandon(storedName(), holderId, leaseNanos);
    }

    @Override
    public final void abandon(Hold hold) {
        forget(hold);
        engine.compensation.abandonHold(storedName(), hold.holderId(), hold.longestNanos());
    }

    @Override
    public final Runnable awaitAnswer() {
        return engine.compensation.keepPending();
    }

    // --- timers ---

    @Override
    public final void watchForLate(Attempt attempt) {
        if (attempt.lateCheck != null) {
            attempt.lateCheck.cancel();
        }
        attempt.lateCheck = engine.watchForLate(storedName(), attempt.holderId, attempt.leaseNanos);
    }

    @Override
    public final void schedulePoll(long delayNanos) {
        cancelPoll();
        pollTimer = engine.settings.time.schedule(
                delayNanos, () -> handle(state -> state.contention().onPoll()));
    }

    final void cancelPoll() {
        if (pollTimer != null) {
            pollTimer.cancel();
            pollTimer = null;
        }
    }

    @Override
    public final void watch(Hold hold, long atNanos) {
        engine.renewals.watch(hold, atNanos);
    }

    /** The hold is over here: it is never due again. */
    private void forget(Hold hold) {
        engine.renewals.forget(hold);
        endRenewalFailure(hold, false);
    }

    // --- what is made ---

    @Override
    public Attempt newAttempt(long leaseNanos, boolean queue) {
        long acquisition = engine.numbers.next();
        return new Attempt(acquisition, HolderId.of(engine.settings.clientId, acquisition), leaseNanos, queue, now());
    }

    @Override
    public final boolean isCurrent(Attempt attempt) {
        return engine.numbers.isCurrent(attempt.acquisition);
    }

    // --- outcomes ---

    @Override
    public final void nudge(Waiter waiter) {
        later(waiter::nudge);
    }

    @Override
    public void completeWaiter(Waiter waiter, ActiveLease lease) {
        conclude(waiter, Waiter.State.GRANTED);
        later(() -> waiter.complete(null));
        engine.events.acquired(
                this,
                waiter.trace,
                lease.fencingToken(),
                waiter.arrivedNanos,
                lease.grantedNanos,
                lease.isHandedOn(),
                state().waiting(),
                waiter.parked);
    }

    @Override
    public void failWaiter(Waiter waiter, Waiter.State outcome, @Nullable LockException why) {
        conclude(waiter, outcome);
        LockException error = why != null ? why : text(waiter).notAcquired();
        later(() -> waiter.complete(error));
        if (!waiter.failsQuietly) {
            engine.events.notAcquired(
                    this,
                    waiter.trace,
                    waiter.arrivedNanos,
                    LockListener.Outcome.valueOf(outcome.name()),
                    String.valueOf(error.getMessage()));
        }
    }

    private void conclude(Waiter waiter, Waiter.State outcome) {
        if (waiter.state != Waiter.State.PENDING) {
            throw new IllegalStateException(
                    "A waiter for " + Names.printable(name) + " has two outcomes: " + waiter.state + ", " + outcome);
        }
        waiter.state = outcome;
        if (waiter.timer != null) {
            waiter.timer.cancel();
            waiter.timer = null;
        }
    }

    private WaitText text(Waiter waiter) {
        NameState state = state();
        String holder = state.contention().holder();
        String described = holder == null ? null : engine.events.describe(holder);
        return new WaitText(this, waiter, state.tenure.lease(), holder, described, now());
    }

    @Override
    public final void endLease(ActiveLease lease, boolean wasGone) {
        later(() -> lease.end(wasGone));
        if (wasGone) {
            reportLost(lease, "the store did not know it at its release", true);
        } else {
            reportReleased(lease);
        }
    }

    @Override
    public final void endExtension(LeaseExtension extension, @Nullable Throwable error) {
        LockStoreException why = error == null
                ? null
                : new LockStoreException(
                        extension.lease().describe() + " was not extended, or the store did not confirm it: "
                                + error.getMessage()
                                + " (expected: a store that answers; unless the lease is renewed, it ends at the"
                                + " earlier of the old and the new end)",
                        describeStore(),
                        StoreErrors.origin(error));
        later(() -> extension.end(why));
    }

    /** Ends a lease that was released here, but the store has not said whether the name stays locked. */
    private void endUnretained(ActiveLease lease, Throwable error) {
        later(() -> lease.endFailed(new LockStoreException(
                "The store was not asked to keep the " + described()
                        + " locked after its release, or did not confirm it: "
                        + error.getMessage()
                        + " (expected: a store that answers; this client asks again in the background, and the lock"
                        + " becomes free when its present lease ends if that fails)",
                describeStore(),
                StoreErrors.origin(error))));
        reportReleased(lease);
    }

    private void reportReleased(ActiveLease lease) {
        engine.events.released(this, lease.fencingToken(), lease.grantedNanos);
    }

    private void reportLost(ActiveLease lease, String why, boolean answered) {
        engine.events.lost(this, lease.fencingToken(), lease.grantedNanos, why, answered);
    }

    @Override
    public void reportLoss(ActiveLease lease, String why, boolean answered) {
        if (!lease.lose(why)) {
            return;
        }
        Thread owner = lease.owner();
        if (owner != null) {
            lostHolds().add(owner, name, lease.holds());
        }
        later(() -> lease.runLossCallbacks(engine.callbacks));
        reportLost(lease, why, answered);
    }

    LostHolds lostHolds() {
        return engine.lostHolds;
    }

    @Override
    public final void reportRenewalFailure(Hold hold, Throwable cause) {
        boolean first = !hold.renewalFailing;
        hold.renewalFailing = true;
        engine.events.renewalFailed(this, first, StoreErrors.of(cause));
    }

    @Override
    public final void reportRenewalSuccess(Hold hold) {
        endRenewalFailure(hold, true);
    }

    private void endRenewalFailure(Hold hold, boolean renewed) {
        if (hold.renewalFailing) {
            hold.renewalFailing = false;
            engine.events.renewalRecovered(this, renewed);
        }
    }

    @Override
    public final void reportForgotten(ActiveLease lease) {
        engine.events.forgotten(this, lease.fencingToken(), lease.place());
    }

    @Override
    public final void reportHolder(String holder) {
        Waiter first = state().firstWaiter();
        engine.events.holderSeen(this, holder, first != null && !first.makesOneAttempt());
        if (engine.events.followsHolders()) {
            for (Waiter waiter = first; waiter != null; waiter = waiter.after) {
                if (waiter.trace != null) {
                    waiter.trace.waitsFor(holder);
                }
            }
        }
    }
}
