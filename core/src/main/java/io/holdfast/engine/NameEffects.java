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
import java.time.Duration;
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

    final Engine engine;
    private final String name;
    private TimeSource.@Nullable Timer pollTimer; // by lock

    NameEffects(Engine engine, String name) {
        this.engine = engine;
        this.name = name;
    }

    @Override
    public final String name() {
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
    public final void sendAcquire(Attempt attempt) {
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
                        handle(state -> new Extending(state).onExtended(hold, extension, request, sent, reply, error)));
    }

    @Override
    public final void sendRelease(Hold hold, @Nullable ActiveLease lease) {
        engine.compensation
                .release(ReleaseRequest.of(name, hold.holderId()), hold.longestNanos())
                .whenComplete((reply, error) -> {
                    if (lease != null) {
                        handle(state -> endLease(lease, error == null && !reply.wasHeld()));
                    }
                });
    }

    @Override
    public final void leave(Hold hold, ActiveLease lease) {
        engine.compensation.retain(hold.holderId());
        engine.cards.onLeft(lease);
        engine.store.leave(name, hold.holderId(), lease::isInUse);
    }

    @Override
    public final void sendRetain(Hold hold, ActiveLease lease, long endNanos) {
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
        ClockReading sent = attempt.markSending(engine.settings.time, engine.settings.nonces);
        engine.compensation
                .release(ReleaseRequest.requeueing(name, hold.holderId(), request(attempt)), hold.longestNanos())
                .whenComplete((reply, error) -> handle(state -> state.onRequeued(attempt, sent, reply, error)));
    }

    final AcquireRequest request(Attempt attempt) {
        return attempt.request(name, engine.settings.pollNanos);
    }

    @Override
    public final void abandon(String holderId, long leaseNanos) {
        engine.compensation.abandon(name, holderId, leaseNanos);
    }

    @Override
    public final void abandon(Hold hold) {
        engine.compensation.abandonHold(name, hold.holderId(), hold.longestNanos());
    }

    // --- timers ---

    @Override
    public final void watchForLate(Attempt attempt) {
        if (attempt.lateCheck != null) {
            attempt.lateCheck.cancel();
        }
        attempt.lateCheck = engine.watchForLate(name, attempt.holderId, attempt.leaseNanos);
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

    @Override
    public final void forget(Hold hold) {
        engine.renewals.forget(hold);
        endRenewalFailure(hold, false);
    }

    // --- what is made ---

    @Override
    public final Attempt newAttempt(long leaseNanos, boolean queue) {
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
    public final void completeWaiter(Waiter waiter, ActiveLease lease) {
        conclude(waiter, Waiter.State.GRANTED);
        later(() -> waiter.complete(null));
        if (waiter.logged) {
            String line = text(waiter).gotIt();
            later(() -> engine.longWaits.log(line));
        }
        engine.cards.countAcquired(name, lease.isHandedOn(), lease.grantedNanos - waiter.arrivedNanos);
        engine.observers.reportAcquired(this, waiter, lease, state().waiting());
        if (waiter.followed != null) {
            waiter.followed.reportEnd(this, waiter, null, lease);
        }
    }

    @Override
    public final void failWaiter(Waiter waiter, Waiter.State outcome, @Nullable LockException why) {
        conclude(waiter, outcome);
        LockException error = why != null ? why : text(waiter).notAcquired();
        String message = String.valueOf(error.getMessage());
        later(() -> waiter.complete(error));
        if (waiter.logged) {
            boolean gaveUp = outcome == Waiter.State.WITHDRAWN;
            String line = text(waiter).gotItNot(gaveUp ? "the caller was interrupted or gave up" : message);
            later(() -> engine.longWaits.log(line));
        }
        if (!waiter.failsQuietly) {
            engine.cards.countNotAcquired(name);
            LockListener.Outcome how = LockListener.Outcome.valueOf(outcome.name());
            engine.observers.reportNotAcquired(this, waiter, how, message);
            if (waiter.followed != null) {
                waiter.followed.reportEnd(this, waiter, how, null);
            }
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

    final WaitText text(Waiter waiter) {
        NameState state = state();
        String holder = state.contention().holder();
        String described = holder == null ? null : engine.cards.describe(holder);
        return new WaitText(name, waiter, state.tenure.lease(), holder, described, now());
    }

    @Override
    public final void endLease(ActiveLease lease, boolean wasGone) {
        later(() -> lease.end(wasGone));
        if (wasGone) {
            String why = "the store did not know it at its release";
            later(() -> engine.incidents.reportLoss(lease, why, true));
            engine.observers.reportLoss(this, lease, why);
        } else {
            engine.observers.reportRelease(this, lease);
        }
    }

    @Override
    public final void endExtension(LeaseExtension extension, @Nullable Throwable error) {
        LockStoreException why = error == null
                ? null
                : new LockStoreException(
                        extension.lease.describe() + " was not extended, or the store did not confirm it: "
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
                "The store was not asked to keep the lock " + Quoted.name(name)
                        + " locked after its release, or did not confirm it: "
                        + error.getMessage()
                        + " (expected: a store that answers; this client asks again in the background, and the lock"
                        + " becomes free when its present lease ends if that fails)",
                describeStore(),
                StoreErrors.origin(error))));
        engine.observers.reportRelease(this, lease);
    }

    @Override
    public final void reportLoss(ActiveLease lease, String why, boolean answered) {
        Thread owner = lease.owner();
        if (owner != null) {
            engine.lostHolds.add(owner, name, lease.holds());
        }
        later(lease::runLossCallbacks);
        later(() -> engine.incidents.reportLoss(lease, why, answered));
        engine.observers.reportLoss(this, lease, why);
    }

    @Override
    public final void reportRenewalFailure(Hold hold, Throwable cause) {
        if (!hold.renewalFailing) {
            hold.renewalFailing = true;
            if (engine.incidents.countFailing()) {
                later(() -> engine.incidents.logOutage(name, cause));
            }
        }
        engine.observers.reportRenewalFailure(this, StoreErrors.of(cause));
    }

    @Override
    public final void reportRenewalSuccess(Hold hold) {
        endRenewalFailure(hold, true);
    }

    private void endRenewalFailure(Hold hold, boolean renewed) {
        if (hold.renewalFailing) {
            hold.renewalFailing = false;
            Duration outage = engine.incidents.countNoLongerFailing(renewed);
            if (outage != null) {
                later(() -> engine.incidents.logRecovery(outage));
            }
        }
    }

    @Override
    public final void reportForgotten(ActiveLease lease) {
        later(() -> engine.incidents.reportForgotten(lease));
    }

    @Override
    public final void reportHolder(String holder) {
        engine.foreignHolders.onHolder(name, holder);
        Waiter first = state().firstWaiter();
        if (first != null && !first.makesOneAttempt() && !holder.isEmpty()) {
            later(() -> engine.cards.learn(holder));
        }
        engine.observers.reportHolder(holder, state());
    }
}
