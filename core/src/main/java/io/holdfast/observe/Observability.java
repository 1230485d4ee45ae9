package io.holdfast.observe;

import io.holdfast.ClientCard;
import io.holdfast.LockListener;
import io.holdfast.engine.ActiveLease;
import io.holdfast.engine.Callbacks;
import io.holdfast.engine.Engine;
import io.holdfast.engine.EngineSettings;
import io.holdfast.engine.EventLock;
import io.holdfast.engine.LockEvents;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import io.holdfast.store.StoreErrors;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Observes a client's locks for all who want to know: the user's {@link LockListener}, on the callback executor, the
 * flight recorder, the tracer, the client's card and the log. The only class that knows them all.
 */
public final class Observability implements LockEvents {

    /** A lease, as long as the client has it: tokens of a name are never used twice. */
    private record LeaseKey(String name, long fencingToken) {}

    private final Recorder recorder = Recorder.INSTANCE;
    private final Engine engine;
    private final Callbacks callbacks;
    private final TimeSource time;
    private final String clientId;
    private final boolean hasListener;
    private final boolean hasTracer;
    private final Incidents incidents;
    private final LongWaits longWaits;
    final Cards cards;
    private final Traces traces;

    /**
     * The leases whose end is to be recorded. Not a field of the lease: a client may hold ten thousand of them.
     *
     * <p>Invariant: a lease is put in at its grant and taken out at its end, both under the lock of its name; so none
     * stays. Empty while no recording runs.
     */
    private final ConcurrentMap<LeaseKey, Recorder.Hold> recorded = new ConcurrentHashMap<>();

    /** @param engine one that is being made: see {@link LockEvents.Opener} */
    public Observability(Engine engine) {
        EngineSettings settings = engine.settings;
        this.engine = engine;
        this.callbacks = engine.callbacks;
        this.time = settings.time;
        this.clientId = settings.clientId;
        this.hasListener = !settings.listeners.isEmpty();
        this.hasTracer = settings.tracer != null;
        this.incidents = new Incidents(engine);
        this.cards = new Cards(engine);
        this.longWaits = new LongWaits(engine, cards);
        this.traces = new Traces(cards, callbacks, settings);
    }

    @Override
    public void begin() {
        cards.begin();
    }

    @Override
    public CompletionStage<Void> close() {
        longWaits.close();
        incidents.close();
        return cards.close();
    }

    // --- waits ---

    @Override
    public @Nullable WaitTrace asking(String name, boolean once) {
        Recorder.Acquire recording = recorder.beginAcquire();
        Traces.Followed traced = traces.begin(name);
        return recording == null && traced == null ? null : new FollowedWait(recording, traced, once);
    }

    @Override
    public void waiting(long arrivedNanos) {
        longWaits.onWaiting(arrivedNanos);
    }

    @Override
    public boolean followsHolders() {
        return hasTracer || recorder.recordsAcquires();
    }

    @Override
    public void acquired(
            EventLock<?> at,
            @Nullable WaitTrace wait,
            long fencingToken,
            long arrivedNanos,
            long grantedNanos,
            boolean handedOn,
            int waiting,
            @Nullable Thread by) {
        String name = at.shownName();
        long waitedNanos = grantedNanos - arrivedNanos;
        cards.countAcquired(name, handedOn, waitedNanos);
        FollowedWait followed = (FollowedWait) wait;
        if (followed != null) {
            longWaits.onEnd(at, followed, arrivedNanos, null);
            if (followed.recording != null) {
                followed.recording.setOutcome(clientId, name, "acquired", fencingToken);
            }
        }
        Recorder.Hold hold = recorder.beginHold(clientId, name, fencingToken, by);
        if (hold != null) {
            recorded.put(new LeaseKey(name, fencingToken), hold);
        }
        if (handedOn) {
            recorder.recordHandOff(clientId, name, fencingToken, waitedNanos, waiting);
        }
        if (hasListener) {
            Duration waited = Duration.ofNanos(waitedNanos);
            notifyListener(at, listener -> {
                listener.acquired(name, fencingToken, waited);
                if (handedOn) {
                    listener.handedOn(name, fencingToken);
                }
            });
        }
        if (followed != null && followed.traced != null) {
            followed.traced.reportEnd(at, waitedNanos, null, fencingToken);
        }
    }

    @Override
    public void notAcquired(
            EventLock<?> at, @Nullable WaitTrace wait, long arrivedNanos, LockListener.Outcome how, String why) {
        String name = at.shownName();
        cards.countNotAcquired(name);
        FollowedWait followed = (FollowedWait) wait;
        if (followed != null) {
            boolean gaveUp = how == LockListener.Outcome.WITHDRAWN;
            longWaits.onEnd(at, followed, arrivedNanos, gaveUp ? "the caller was interrupted or gave up" : why);
            if (followed.recording != null) {
                followed.recording.setOutcome(clientId, name, lowerCase(how), 0);
            }
        }
        if (hasListener) {
            Duration waited = since(arrivedNanos);
            notifyListener(at, listener -> listener.notAcquired(name, waited, how, why));
        }
        if (followed != null && followed.traced != null) {
            followed.traced.reportEnd(at, time.nanoTime() - arrivedNanos, how, 0);
        }
    }

    // --- leases ---

    @Override
    public void released(EventLock<?> at, long fencingToken, long grantedNanos) {
        endHold(at, fencingToken, false);
        if (hasListener) {
            Duration held = since(grantedNanos);
            notifyListener(at, listener -> listener.released(at.shownName(), fencingToken, held));
        }
    }

    @Override
    public void lost(EventLock<?> at, long fencingToken, long grantedNanos, String why, boolean answered) {
        at.later(() -> incidents.reportLoss(at.shownName(), fencingToken, why, answered));
        endHold(at, fencingToken, true);
        Duration held = since(grantedNanos);
        recorder.recordLoss(clientId, at.shownName(), fencingToken, held, why);
        if (hasListener) {
            notifyListener(at, listener -> listener.lost(at.shownName(), fencingToken, held, why));
        }
    }

    @Override
    public void left(ActiveLease lease) {
        cards.onLeft(lease);
    }

    @Override
    public void renewalFailed(EventLock<?> at, boolean first, StoreException cause) {
        if (first && incidents.countFailing()) {
            at.later(() -> incidents.logOutage(at.shownName(), cause));
        }
        if (hasListener) {
            notifyListener(at, listener -> listener.renewalFailed(at.shownName(), cause));
        }
    }

    @Override
    public void renewalRecovered(EventLock<?> at, boolean renewed) {
        Duration outage = incidents.countNoLongerFailing(renewed);
        if (outage != null) {
            at.later(() -> incidents.logRecovery(outage));
        }
    }

    @Override
    public void forgotten(EventLock<?> at, long fencingToken, @Nullable Throwable place) {
        at.later(() -> incidents.reportForgotten(at.shownName(), fencingToken, place));
    }

    @Override
    public void holderSeen(EventLock<?> at, String holder, boolean waits) {
        String name = at.shownName();
        if (incidents.isFirstForeign(name, holder)) {
            at.later(() -> incidents.logForeign(name, holder));
        }
        if (waits && !holder.isEmpty()) {
            at.later(() -> cards.learn(holder));
        }
    }

    private void notifyListener(EventLock<?> at, Consumer<LockListener> event) {
        at.later(() -> callbacks.notifyListeners(event));
    }

    private void endHold(EventLock<?> at, long fencingToken, boolean lost) {
        Recorder.Hold hold = recorded.isEmpty() ? null : recorded.remove(new LeaseKey(at.shownName(), fencingToken));
        if (hold != null) {
            hold.record(lost);
        }
    }

    // --- of the client ---

    @Override
    public RenewAnswers renewing(List<RenewRequest> requests, UnaryOperator<String> shown, RenewAnswers answers) {
        long sentNanos = time.nanoTime();
        AtomicInteger answered = new AtomicInteger();
        AtomicInteger failed = new AtomicInteger();
        return (index, reply, error) -> {
            answers.answered(index, reply, error);
            // One report of a failure for all of them: usually they have one cause.
            if (error != null && failed.getAndIncrement() == 0) {
                storeFailed("renew", shown.apply(requests.get(index).name()), error);
            }
            if (answered.incrementAndGet() == requests.size()) {
                Duration took = since(sentNanos);
                recorder.recordRenewals(clientId, requests.size(), failed.get(), took);
                callbacks.notifyListeners(listener -> listener.renewed(requests.size(), failed.get(), took));
            }
        };
    }

    @Override
    public void storeFailed(String command, String name, Throwable error) {
        StoreException cause = StoreErrors.of(error);
        recorder.recordStoreFailure(
                clientId, command, name, lowerCase(cause.outcome()), String.valueOf(cause.getMessage()));
        if (hasListener) {
            // The caller may have the lock of a name, and the user's executor may run the listener at once.
            time.schedule(0, () -> callbacks.notifyListeners(listener -> listener.storeFailed(name, command, cause)));
        }
    }

    @Override
    public void reconnected() {
        recorder.recordReconnect(clientId, engine.store.describe());
        callbacks.notifyListeners(LockListener::reconnected);
    }

    @Override
    public void clockJumped(long byNanos) {
        Duration by = Duration.ofNanos(byNanos);
        recorder.recordClockJump(clientId, by);
        callbacks.notifyListeners(listener -> listener.clockJumped(by));
    }

    // --- what the engine asks ---

    @Override
    public String describe(String holder) {
        return cards.describe(holder);
    }

    @Override
    public CompletionStage<Optional<ClientCard>> cardOf(@Nullable String holder) {
        return cards.ofHolder(holder);
    }

    @Override
    public CompletionStage<List<ClientCard>> cards() {
        return cards.read();
    }

    /** For tests: of how many leases the end is to be recorded. */
    int recorded() {
        return recorded.size();
    }

    private static String lowerCase(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private Duration since(long nanos) {
        return Duration.ofNanos(time.nanoTime() - nanos);
    }
}
