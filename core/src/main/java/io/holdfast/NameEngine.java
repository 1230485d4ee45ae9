package io.holdfast;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.Names;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One name in use: the lock around its {@link NameState}, and the only place from which commands for it are sent.
 *
 * <p>Commands are sent during an event, so that they leave in the order of the decisions; the store may execute them in
 * another one. A reply that comes back during the sending is handled after the present event.
 */
@SuppressWarnings("serial") // nobody writes it anywhere
final class NameEngine extends EventLock implements Effects {

    private final Engine engine;
    private final String name;

    private final NameState state; // by lock
    private boolean retired; // by lock; not in the engine's map any more
    private TimeSource.@Nullable Timer pollTimer; // by lock

    /** The lease that is out, for threads that ask whether it is theirs. Written under the lock, read anywhere. */
    private volatile @Nullable ActiveLease current;

    NameEngine(Engine engine, String name) {
        this.engine = engine;
        this.name = name;
        this.state = new NameState(engine.settings(), this);
    }

    /** Not as a field: there are very many of these in some clients. */
    EngineSettings settings() {
        return engine.settings();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String store() {
        return engine.store().describe();
    }

    TimeSource time() {
        return settings().time;
    }

    String holderId(long acquisition) {
        return engine.holderId(acquisition);
    }

    Callbacks callbacks() {
        return engine.callbacks();
    }

    @Nullable
    ActiveLease current() {
        return current;
    }

    // --- events ---

    /** False if this engine has been retired: the caller takes a new one. */
    boolean submit(Waiter waiter) {
        boolean[] taken = new boolean[1];
        handle(() -> {
            if (!retired) {
                taken[0] = true;
                waiter.submittedTo(this);
                state.arrive(waiter);
                armDeadline(waiter);
                if (waiter.state == Waiter.State.PENDING) {
                    engine.longWaits().waits(waiter.arrivedNanos);
                }
            }
        });
        return taken[0];
    }

    /** The place of a name in a {@link MultiAttempt}. */
    sealed interface Reservation {

        /** To be sent with the others. */
        record Made(NameEngine engine, Waiter waiter, Attempt attempt, ClockReading sent, AcquireRequest request)
                implements Reservation {}

        /** Somebody here holds the name or waits for it. */
        record InUse() implements Reservation {}

        /** This engine has been retired: the caller takes a new one. */
        record Retired() implements Reservation {}
    }

    /** Begins an attempt whose command the caller sends, or says that there is none. */
    Reservation reserve(Waiter waiter) {
        Reservation[] made = {new Reservation.Retired()};
        handle(() -> {
            if (retired) {
                return;
            }
            waiter.submittedTo(this);
            Attempt attempt = state.reserve(waiter);
            made[0] = attempt == null
                    ? new Reservation.InUse()
                    : new Reservation.Made(this, waiter, attempt, attempt.sending(settings().time), request(attempt));
            if (attempt != null) {
                armDeadline(waiter);
            }
        });
        return made[0];
    }

    void grantedTogether(Reservation.Made made, AcquireReply.Granted granted) {
        handle(() -> state.acquired(made.attempt(), made.sent(), granted, null));
    }

    void failedTogether(Reservation.Made made, StoreException error) {
        handle(() -> state.failedTogether(made.waiter(), made.attempt(), error));
    }

    /** Nothing was sent, or it has changed nothing; {@code told}: because this name is not free. */
    void notTakenTogether(Reservation.Made made, boolean told) {
        handle(() -> {
            made.waiter().untold |= !told;
            state.notTakenTogether(made.waiter(), made.attempt());
        });
    }

    /** False if the waiter has had another outcome before. */
    boolean leave(Waiter waiter, Waiter.State outcome) {
        boolean[] left = new boolean[1];
        handle(() -> {
            if (waiter.state == Waiter.State.PENDING) {
                left[0] = true;
                state.leave(waiter, outcome);
            }
        });
        return left[0];
    }

    /** A thread that was nudged tries for the lock. */
    void claim(Waiter waiter) {
        handle(() -> {
            if (waiter.state == Waiter.State.PENDING) {
                state.claim(waiter);
            }
        });
    }

    void released(ActiveLease lease) {
        handle(() -> state.released(lease));
    }

    void retain(ActiveLease lease, long endNanos) {
        handle(() -> state.retained(lease, endNanos));
    }

    /** A command is about to be sent that removes whatever hold there is. Null if this engine has been retired. */
    @Nullable
    Force forcing() {
        @Nullable Force[] begun = new @Nullable Force[1];
        handle(() -> {
            if (!retired) {
                begun[0] = new Force(this, state.forcing());
            }
        });
        return begun[0];
    }

    /** A command that removes whatever hold there is on the name, sent through this client. */
    record Force(NameEngine engine, @Nullable Hold before) {

        /** @param removed whether the store says that it removed one */
        void ended(boolean removed) {
            engine.handle(() -> engine.state.forced(before, removed));
        }
    }

    /** Null if nobody here holds the name or waits for it any more. */
    @Nullable
    LocalLock view() {
        long now = settings().time.nanoTime();
        lock();
        try {
            ActiveLease lease = state.lease();
            Waiter first = state.firstWaiter();
            if (retired || (lease == null && first == null)) {
                return null;
            }
            return new LocalLock(
                    name,
                    Optional.ofNullable(lease).map(ActiveLease::asSeen),
                    Duration.ofNanos(lease == null ? 0 : Math.max(0, now - lease.grantedNanos)),
                    state.waiting(),
                    Duration.ofNanos(first == null ? 0 : Math.max(0, now - first.arrivedNanos)));
        } finally {
            unlock();
        }
    }

    /** By how much the renewal of the lease that is out is late; zero if it is not, or none is due. */
    long renewalLagNanos() {
        lock();
        try {
            return state.renewalLagNanos();
        } finally {
            unlock();
        }
    }

    /**
     * Logs the waits here that have become long.
     *
     * @return when the first of the others began, or {@link LongWaits#NONE}
     */
    long lookAtWaits() {
        // With no lock: of very many names, few have waiters. One that is not seen yet has not waited for a minute.
        if (state.nobodyWaits()) {
            return LongWaits.NONE;
        }
        long[] next = {LongWaits.NONE};
        handle(() -> {
            long now = settings().time.nanoTime();
            for (Waiter waiter = state.firstWaiter(); waiter != null; waiter = waiter.after) {
                if (waiter.longWaitSeen) {
                    continue;
                }
                if (now - waiter.arrivedNanos < LongWaits.LONG.toNanos()) {
                    next[0] = Math.min(next[0], waiter.arrivedNanos);
                    continue;
                }
                waiter.longWaitSeen = true;
                if (engine.longWaits().admits()) {
                    waiter.logged = true;
                    String line = text(waiter).waitsForLong();
                    later(() -> engine.longWaits().log(line));
                }
            }
        });
        return next[0];
    }

    void leaseOver(ActiveLease lease) {
        handle(() -> state.leaseOver(lease));
    }

    void renewed(
            Hold hold, RenewRequest request, ClockReading sent, @Nullable RenewReply reply, @Nullable Throwable error) {
        handle(() -> state.renewed(hold, request, sent, reply, error));
    }

    @Nullable
    RenewRequest renewalDue(Hold hold, ClockReading sent, boolean jumped) {
        @Nullable RenewRequest[] request = new @Nullable RenewRequest[1];
        handle(() -> request[0] = state.renewalDue(hold, sent, jumped));
        return request[0];
    }

    void hint() {
        handle(state::hint);
    }

    void pushedGrant(String holderId) {
        handle(() -> state.pushedGrant(holderId));
    }

    void pushedGrant(PushedGrant grant) {
        handle(() -> state.pushedGrant(grant));
    }

    void unusedLate(String holderId, long leaseNanos) {
        handle(() -> state.unusedLate(holderId, leaseNanos));
    }

    void contended(String holderId) {
        handle(() -> state.contended(holderId));
    }

    void lost(String holderId) {
        handle(() -> state.lost(holderId));
    }

    void close(LockClientClosedException why) {
        handle(() -> state.close(why));
    }

    // --- effects: called by the state, under the lock ---

    @Override
    public void sendAcquire(Attempt attempt) {
        ClockReading sent = attempt.sending(settings().time);
        engine.store()
                .acquire(request(attempt))
                .whenComplete((reply, error) -> handle(() -> state.acquired(attempt, sent, reply, error)));
    }

    @Override
    public void sendPreparation(Hold hold, RenewRequest request) {
        ClockReading sent = ClockReading.now(settings().time);
        engine.store()
                .renew(request)
                .whenComplete((reply, error) -> handle(() -> state.prepared(hold, request, sent, reply, error)));
    }

    @Override
    public void sendRelease(Hold hold, @Nullable ActiveLease lease) {
        var command =
                engine.compensation().release(new ReleaseRequest(name, hold.holderId(), null), hold.longestNanos());
        command.whenComplete((reply, error) -> {
            if (lease != null) {
                boolean wasGone = error == null && !reply.wasHeld();
                handle(() -> released(lease, wasGone));
            }
        });
    }

    @Override
    public void sendRetain(Hold hold, ActiveLease lease, long endNanos) {
        engine.retention()
                .keep(name, hold.holderId(), endNanos, hold.deadline.nanos(), hold.sequence, hold.longestNanos())
                .whenComplete((wasGone, error) -> handle(() -> {
                    if (error == null) {
                        released(lease, wasGone);
                    } else {
                        notKept(lease, error);
                    }
                }));
    }

    @Override
    public void sendReleaseAndRequeue(Hold hold, Attempt attempt) {
        ClockReading sent = attempt.sending(settings().time);
        var command = engine.compensation()
                .release(new ReleaseRequest(name, hold.holderId(), request(attempt)), hold.longestNanos());
        command.whenComplete((reply, error) -> handle(() -> state.requeued(attempt, sent, reply, error)));
    }

    @Override
    public void abandon(String holderId, long leaseNanos) {
        if (!engine.retention().keeps(holderId)) {
            engine.compensation().abandon(name, holderId, leaseNanos);
        }
    }

    @Override
    public void abandon(Hold hold) {
        String holderId = hold.holderId();
        if (!engine.retention().keeps(holderId)) {
            engine.compensation().abandonHold(name, holderId, hold.longestNanos());
        }
    }

    @Override
    public void watchForLate(Attempt attempt) {
        if (attempt.lateLook != null) {
            attempt.lateLook.cancel();
        }
        attempt.lateLook = engine.watchForLate(name, attempt.holderId, attempt.leaseNanos);
    }

    @Override
    public void heldBy(String holder) {
        engine.foreignHolders().met(name, holder);
    }

    @Override
    public void wakeAfter(long delayNanos) {
        if (pollTimer != null) {
            pollTimer.cancel();
        }
        pollTimer = settings().time.schedule(delayNanos, () -> handle(state::poll));
    }

    @Override
    public void watch(Hold hold, long atNanos) {
        engine.renewals().watch(hold, atNanos);
    }

    @Override
    public void forget(Hold hold) {
        engine.renewals().forget(hold);
        renewalFailsNoMore(hold, false);
    }

    @Override
    public Attempt newAttempt(long leaseNanos, boolean queue) {
        long acquisition = engine.numbers().next();
        return new Attempt(
                acquisition,
                engine.holderId(acquisition),
                leaseNanos,
                queue,
                settings().time.nanoTime());
    }

    @Override
    public boolean isCurrent(Attempt attempt) {
        return engine.numbers().isCurrent(attempt.acquisition);
    }

    @Override
    public Hold newHold(Attempt attempt, long base, Deadline deadline, long sinceNanos, long leaseNanos) {
        return new Hold(
                this,
                attempt.acquisition,
                base,
                deadline,
                settings().time.nanoTime(),
                sinceNanos,
                leaseNanos,
                Math.max(leaseNanos, attempt.leaseNanos));
    }

    @Override
    public void nudge(Waiter waiter) {
        later(waiter::nudge);
    }

    @Override
    public void granted(Waiter waiter, ActiveLease lease) {
        conclude(waiter, Waiter.State.GRANTED);
        // Before the waiter can run: it may ask at once whether it holds.
        current = lease;
        later(() -> waiter.complete(null));
        if (waiter.logged) {
            String line = text(waiter).gotIt();
            later(() -> engine.longWaits().log(line));
        }
        Duration waited = Duration.ofNanos(lease.grantedNanos - waiter.arrivedNanos);
        tell(l -> l.acquired(name, lease.fencingToken(), waited));
    }

    @Override
    public void released(ActiveLease lease, boolean wasGone) {
        later(() -> lease.end(wasGone));
        if (wasGone) {
            String why = "the store did not know it at its release";
            later(() -> engine.incidents().lost(lease, why, true));
            tell(l -> l.lost(name, lease.fencingToken(), why));
        } else {
            Duration held = Duration.ofNanos(settings().time.nanoTime() - lease.grantedNanos);
            tell(l -> l.released(name, lease.fencingToken(), held));
        }
    }

    /** Released here; but whether the name stays locked, the store has not said. */
    private void notKept(ActiveLease lease, Throwable error) {
        later(() -> lease.endFailed(new LockStoreException(
                "The store was not asked to keep the lock " + name
                        + " locked after its release, or did not confirm it: "
                        + error.getMessage()
                        + " (expected: a store that answers; this client asks again in the background, and the lock"
                        + " becomes free when its present lease ends if that fails)",
                store(),
                error)));
        Duration held = Duration.ofNanos(settings().time.nanoTime() - lease.grantedNanos);
        tell(l -> l.released(name, lease.fencingToken(), held));
    }

    @Override
    public void ended(Waiter waiter, Waiter.State outcome, @Nullable LockException why) {
        conclude(waiter, outcome);
        Duration waited = Duration.ofNanos(settings().time.nanoTime() - waiter.arrivedNanos);
        LockException error = why != null ? why : text(waiter).notAcquired();
        later(() -> waiter.complete(error));
        if (waiter.logged) {
            String line = text(waiter)
                    .gotItNot(
                            outcome == Waiter.State.WITHDRAWN
                                    ? "the caller was interrupted or gave up"
                                    : String.valueOf(error.getMessage()));
            later(() -> engine.longWaits().log(line));
        }
        if (waiter.untold) {
            return;
        }
        LockListener.Outcome how = LockListener.Outcome.valueOf(outcome.name());
        tell(l -> l.notAcquired(name, waited, how, String.valueOf(error.getMessage())));
    }

    @Override
    public void lost(ActiveLease lease, String why, boolean answered) {
        if (lease.owner != null) {
            engine.lostHolds().add(lease.owner, name, lease.holds());
        }
        later(lease::runLossCallbacks);
        later(() -> engine.incidents().lost(lease, why, answered));
        tell(l -> l.lost(name, lease.fencingToken(), why));
    }

    @Override
    public void renewalFailed(Hold hold, Throwable cause) {
        if (!hold.renewalFailing) {
            hold.renewalFailing = true;
            if (engine.incidents().renewalFails()) {
                later(() -> engine.incidents().logOutage(name, cause));
            }
        }
        tell(l -> l.renewalFailed(name, StoreErrors.of(cause)));
    }

    @Override
    public void renewalSucceeded(Hold hold) {
        renewalFailsNoMore(hold, true);
    }

    @Override
    public void forgotten(ActiveLease lease) {
        later(() -> engine.incidents().forgotten(lease));
    }

    private void renewalFailsNoMore(Hold hold, boolean renewed) {
        if (!hold.renewalFailing) {
            return;
        }
        hold.renewalFailing = false;
        Duration outage = engine.incidents().renewalFailsNoMore(renewed);
        if (outage != null) {
            later(() -> engine.incidents().logRecovery(outage));
        }
    }

    private void tell(Consumer<LockListener> event) {
        if (callbacks().hasListener()) {
            later(() -> callbacks().tell(event));
        }
    }

    // --- after each event ---

    /** Nothing stays scheduled that is not needed, and per-name state goes when nobody holds or waits (rule 13). */
    @Override
    void settle() {
        publish(state.lease());
        if (pollTimer != null && !state.isContending()) {
            pollTimer.cancel();
            pollTimer = null;
        }
        state.tidy();
        if (!retired && state.isFree()) {
            retired = true;
            engine.retire(this);
        }
    }

    /** Most events leave it as it is, and a volatile write costs more than a read. */
    private void publish(@Nullable ActiveLease lease) {
        if (current != lease) {
            current = lease;
        }
    }

    private void armDeadline(Waiter waiter) {
        if (waiter.state == Waiter.State.PENDING && waiter.waitNanos > 0 && waiter.waitNanos != Waiter.NO_DEADLINE) {
            waiter.timer = settings().time.schedule(waiter.waitNanos, () -> leave(waiter, Waiter.State.TIMED_OUT));
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
        return new WaitText(
                name,
                waiter,
                state.lease(),
                state.holderElsewhere(),
                settings().time.nanoTime());
    }

    private AcquireRequest request(Attempt attempt) {
        return new AcquireRequest(
                name,
                attempt.holderId,
                attempt.leaseNanos / 1_000_000,
                attempt.queue,
                settings().pollNanos / 1_000_000,
                attempt.repetition);
    }
}
