package io.holdfast.observe;

import io.holdfast.LockListener;
import io.holdfast.engine.ActiveLease;
import io.holdfast.engine.Callbacks;
import io.holdfast.engine.EngineSettings;
import io.holdfast.engine.EventLock;
import io.holdfast.engine.NameState;
import io.holdfast.engine.StoreErrors;
import io.holdfast.engine.Waiter;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Reports what happens to a client's locks: to the user's {@link LockListener}, on the callback executor, and to the
 * flight recorder. The only class that knows the observers: the engine reports each event here, once.
 *
 * <p>A method with an {@link EventLock} is called under that lock, and the listener receives the event after the lock
 * is released.
 */
public final class Observers {

    private final Recorder recorder = Recorder.INSTANCE;
    private final Callbacks callbacks;
    private final TimeSource time;
    private final String clientId;
    private final boolean hasListener;
    private final boolean hasTracer;

    /**
     * The leases whose end is to be recorded. Not a field of the lease: a client may hold very many of them.
     *
     * <p>Invariant: a lease is put in at its grant and taken out at its end, both under the lock of its name; so none
     * stays. Empty while no recording runs.
     */
    private final ConcurrentMap<ActiveLease, Recorder.Hold> recorded = new ConcurrentHashMap<>();

    public Observers(Callbacks callbacks, EngineSettings settings) {
        this.callbacks = callbacks;
        this.time = settings.time;
        this.clientId = settings.clientId;
        this.hasListener = !settings.listeners.isEmpty();
        this.hasTracer = settings.tracer != null;
    }

    // --- under the lock of a name ---

    /** Reports that a waiter has begun to wait. */
    public void reportWait(Waiter waiter, NameState state) {
        ActiveLease out = state.tenure.lease();
        if (out != null) {
            waiter.noteHolder(out);
        } else {
            waiter.noteHolder(state.contention().holder());
        }
    }

    /** Reports that the store has named the holder of the lock that the waiters of this state want. */
    public void reportHolder(String holder, NameState state) {
        if (hasTracer || recorder.recordsAcquires()) {
            for (Waiter waiter = state.firstWaiter(); waiter != null; waiter = waiter.after) {
                waiter.noteHolder(holder);
            }
        }
    }

    public void reportAcquired(EventLock<?> at, Waiter waiter, ActiveLease lease, int waiting) {
        long token = lease.fencingToken();
        long waitedNanos = lease.grantedNanos - waiter.arrivedNanos;
        boolean handedOn = lease.isHandedOn();
        if (waiter.recording != null) {
            waiter.recording.setOutcome(clientId, at.name(), "acquired", token);
        }
        Recorder.Hold hold = recorder.beginHold(clientId, at.name(), token, waiter.parked);
        if (hold != null) {
            recorded.put(lease, hold);
        }
        if (handedOn) {
            recorder.recordHandOff(clientId, at.name(), token, waitedNanos, waiting);
        }
        if (hasListener) {
            Duration waited = Duration.ofNanos(waitedNanos);
            notifyListener(at, listener -> {
                listener.acquired(at.name(), token, waited);
                if (handedOn) {
                    listener.handedOn(at.name(), token);
                }
            });
        }
    }

    public void reportNotAcquired(EventLock<?> at, Waiter waiter, LockListener.Outcome how, String why) {
        if (waiter.recording != null) {
            waiter.recording.setOutcome(clientId, at.name(), lowerCase(how), 0);
        }
        if (hasListener) {
            Duration waited = since(waiter.arrivedNanos);
            notifyListener(at, listener -> listener.notAcquired(at.name(), waited, how, why));
        }
    }

    public void reportRelease(EventLock<?> at, ActiveLease lease) {
        endHold(lease, false);
        if (hasListener) {
            Duration held = since(lease.grantedNanos);
            notifyListener(at, listener -> listener.released(at.name(), lease.fencingToken(), held));
        }
    }

    public void reportLoss(EventLock<?> at, ActiveLease lease, String why) {
        endHold(lease, true);
        Duration held = since(lease.grantedNanos);
        recorder.recordLoss(clientId, at.name(), lease.fencingToken(), held, why);
        if (hasListener) {
            notifyListener(at, listener -> listener.lost(at.name(), lease.fencingToken(), held, why));
        }
    }

    public void reportRenewalFailure(EventLock<?> at, StoreException cause) {
        if (hasListener) {
            notifyListener(at, listener -> listener.renewalFailed(at.name(), cause));
        }
    }

    private void notifyListener(EventLock<?> at, Consumer<LockListener> event) {
        at.later(() -> callbacks.notifyListeners(event));
    }

    private void endHold(ActiveLease lease, boolean lost) {
        Recorder.Hold hold = recorded.isEmpty() ? null : recorded.remove(lease);
        if (hold != null) {
            hold.record(lost);
        }
    }

    // --- of the client ---

    /** Returns answers that pass on to the given ones, and report when the last one has come. */
    public RenewAnswers reportingAnswers(List<RenewRequest> requests, RenewAnswers answers) {
        long sentNanos = time.nanoTime();
        AtomicInteger answered = new AtomicInteger();
        AtomicInteger failed = new AtomicInteger();
        return (index, reply, error) -> {
            answers.answered(index, reply, error);
            // One report of a failure for all of them: usually they have one cause.
            if (error != null && failed.getAndIncrement() == 0) {
                reportStoreFailure("renew", requests.get(index).name(), error);
            }
            if (answered.incrementAndGet() == requests.size()) {
                Duration took = since(sentNanos);
                recorder.recordRenewals(clientId, requests.size(), failed.get(), took);
                callbacks.notifyListeners(listener -> listener.renewed(requests.size(), failed.get(), took));
            }
        };
    }

    /**
     * Reports that a command failed.
     *
     * @param name the lock name, or one of them
     */
    public void reportStoreFailure(String command, String name, Throwable error) {
        StoreException cause = StoreErrors.of(error);
        recorder.recordStoreFailure(
                clientId, command, name, lowerCase(cause.outcome()), String.valueOf(cause.getMessage()));
        if (hasListener) {
            // The caller may have the lock of a name, and the user's executor may run the listener at once.
            time.schedule(0, () -> callbacks.notifyListeners(listener -> listener.storeFailed(name, command, cause)));
        }
    }

    public void reportReconnect(String store) {
        recorder.recordReconnect(clientId, store);
        callbacks.notifyListeners(LockListener::reconnected);
    }

    public void reportClockJump(long byNanos) {
        Duration by = Duration.ofNanos(byNanos);
        recorder.recordClockJump(clientId, by);
        callbacks.notifyListeners(listener -> listener.clockJumped(by));
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
