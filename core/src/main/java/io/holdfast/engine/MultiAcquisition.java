package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import io.holdfast.log.Quoted;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The acquisition of several names: by one command if the store can, nobody here uses them and all are free; otherwise
 * one after the other in the order of the names, so that two groups cannot wait for each other in a circle, and with
 * one deadline for all.
 *
 * <p>A round is a series of steps: the one command for all names, or one name each. A lease that ends while the next
 * name is waited for (a short {@code leaseFor}, a forced release) ends the round: the leases held so far are released
 * and the next round begins, until the deadline. Hence all leases were valid at one moment at the end.
 *
 * <p>The steps are the same for a thread and for a stage; only the wait for the outcome of a step differs: {@link
 * #await} and {@link #stage}. One step begins after the other has ended, so the fields without a lock have one writer
 * at a time.
 */
public final class MultiAcquisition {

    private final Engine engine;
    private final List<String> names;
    private final LockOptions options;
    private final Waiter.Mode mode;
    private final TimeSource time;
    private final long startNanos;
    private final long waitNanos;

    /** The leases, or why there are none; a caller may end it from outside. */
    private final CallbackStage<MultiLease> result;

    /** What the steps of this round have taken, in the order of the names. */
    private final List<Lease> held = new ArrayList<>();

    /** Whether the next step, or the present one, is the command for all names: the first of each round. */
    private boolean byOneCommand = true;

    /**
     * Why the store last failed, if it has given no good answer since: then an end of the wait is no time-out (engine
     * rule 11).
     */
    private @Nullable Throwable lastFailure;

    /** How the last wait for a busy name ended; null before. It names the holder, as far as that is known. */
    private @Nullable LockTimeoutException busy;

    /** Whether a wait has begun: the first one for a single name has the caller's own options. */
    private boolean begun;

    /** A name that the store fails for, if its waits were cut short, and for how long. */
    private @Nullable String failing;

    private long failingNanos;

    /**
     * What a stage waits for now. Written before {@link #result} is read, so that either this thread sees the cancel,
     * or the cancelling thread sees these stages.
     */
    private volatile List<CompletableFuture<Optional<Lease>>> waiting = List.of();

    public MultiAcquisition(Engine engine, Collection<String> names, LockOptions options, Waiter.Mode mode) {
        this.engine = engine;
        this.options = requireNonNull(options, "options");
        this.mode = mode;
        this.time = engine.settings.time;
        this.startNanos = time.nanoTime();
        this.waitNanos = Waiter.waitNanos(options, mode);
        this.result = new CallbackStage<>(engine.callbacks);
        this.names = names.stream().map(Limits::checkName).distinct().sorted().toList();
        if (this.names.isEmpty()) {
            throw new IllegalArgumentException("lock names: none (expected: at least one)");
        }
    }

    // --- the wait of the calling thread ---

    public Optional<MultiLease> awaitOptional() throws InterruptedException {
        try {
            return Optional.of(await());
        } catch (LockTimeoutException e) {
            return Optional.empty();
        }
    }

    public MultiLease await() throws InterruptedException {
        Waiter.ensureNotInterrupted();
        try {
            while (awaitStep(begin(true))) {}
            return result.join();
        } catch (CompletionException e) {
            throw (LockException) requireNonNull(e.getCause());
        } finally {
            if (!result.isDone()) {
                releaseHeld();
            }
        }
    }

    private boolean awaitStep(List<Waiter> step) throws InterruptedException {
        List<Lease> granted = new ArrayList<>();
        LockException failure = null;
        for (int i = 0; i < step.size(); i++) {
            try {
                step.get(i).awaitOptional().ifPresent(granted::add);
            } catch (LockException e) {
                failure = e;
            } catch (InterruptedException e) {
                step.subList(i + 1, step.size()).forEach(MultiAcquisition::giveUp);
                MultiLeaseHandle.releaseQuietly(granted);
                throw e;
            }
        }
        return end(step, granted, failure);
    }

    private static void giveUp(Waiter waiter) {
        if (waiter.withdraw()) {
            return;
        }
        try {
            waiter.awaitUninterruptibly()
                    .ifPresent(lease -> LeaseHandle.active(lease).releaseQuietly());
        } catch (LockException nothingWasTaken) {
            // That is all that is wanted.
        }
    }

    // --- the wait of a stage ---

    /** Begins the steps; each runs on the callback executor when the step before has ended. */
    public CompletionStage<MultiLease> stage() {
        CompletionStage<MultiLease> watched = result;
        // If a step completed the result, no step waits any more; if the caller did, the present step is withdrawn.
        watched.whenComplete((leases, why) -> waiting.forEach(each -> each.cancel(false)));
        beginStaged();
        return result;
    }

    /** As {@link #stage}, with an empty value where the wait has ended. */
    public CompletionStage<Optional<MultiLease>> optionalStage() {
        var unused = stage();
        return result.optional(leases -> MultiLeaseHandle.releaseQuietly(leases.leases()));
    }

    private void beginStaged() {
        List<Waiter> step;
        try {
            step = begin(false);
        } catch (LockClientClosedException e) {
            fail(e);
            return;
        }
        List<CompletableFuture<Optional<Lease>>> stages = step.stream()
                .map(waiter -> waiter.optionalStage().toCompletableFuture())
                .toList();
        waiting = stages;
        if (result.isDone()) {
            stages.forEach(each -> each.cancel(false));
        }
        CompletionStage<Void> all = CompletableFuture.allOf(stages.toArray(CompletableFuture[]::new));
        all.whenComplete((nothing, why) -> {
            List<Lease> granted = new ArrayList<>();
            for (CompletableFuture<Optional<Lease>> each : stages) {
                if (!each.isCompletedExceptionally()) {
                    each.join().ifPresent(granted::add);
                }
            }
            if (end(step, granted, why instanceof CompletionException ? why.getCause() : why)) {
                beginStaged();
            }
        });
    }

    // --- the steps ---

    /** Begins a step: returns a waiter for each name, or for the next name. */
    private List<Waiter> begin(boolean blocking) {
        if (byOneCommand) {
            // The listener receives its end only if this is the one attempt; otherwise the names are asked for
            // once more.
            List<Waiter> all = engine.submitMulti(
                    names, () -> Waiter.forMulti(optionsForNext(), blocking, waitNanos > 0, time.nanoTime()));
            if (!all.isEmpty()) {
                return all;
            }
            byOneCommand = false;
        }
        String name = names.get(held.size());
        LockOptions next = optionsForNext();
        Waiter waiter = blocking
                ? Waiter.blocking(next, mode, null, time.nanoTime())
                : Waiter.asynchronous(next, mode, time.nanoTime());
        waiter.isPart = names.size() > 1;
        return List.of(engine.submit(name, waiter));
    }

    /** Ends a step. Returns whether another step follows; otherwise the result is complete. */
    private boolean end(List<Waiter> step, List<Lease> granted, @Nullable Throwable failure) {
        String name = names.get(held.size());
        held.addAll(granted);
        noteBusy(step);
        if (failure != null && !(failure instanceof LockStoreException)) {
            return fail(failure);
        }
        boolean complete = granted.size() == step.size();
        if (byOneCommand) {
            onStepEnded(step, failure);
            if (!complete && mayAskInTurn(step)) {
                byOneCommand = false;
                releaseHeld();
                return true;
            }
        } else if (failure != null) {
            if (!isEndOfRound(name, step.get(0), failure)) {
                return fail(failure);
            }
        } else {
            onNameAnswered(name, step.get(0));
        }
        boolean all = held.size() == names.size();
        if (all) {
            // Before the check of their validity: what a close of the client ends from now on, it leaves to the caller.
            held.forEach(lease -> LeaseHandle.active(lease).onDelivered());
        }
        if (!complete || !held.stream().allMatch(Lease::isValid) || (!all && waitNanos > 0 && isOver())) {
            return endRound();
        }
        if (all && !result.complete(new MultiLeaseHandle(held))) {
            // The caller ended the stage at the last moment, so nobody would ever release the leases.
            releaseHeld();
        }
        return !all;
    }

    /**
     * Returns whether to continue name by name after the command for all names: one attempt is one attempt, unless a
     * second check must show whether one of the names can ever become free.
     */
    private boolean mayAskInTurn(List<Waiter> step) {
        return waitNanos > 0 ? !isOver() : step.get(0).checksAgain;
    }

    private boolean endRound() {
        if (isOver()) {
            return fail(lastFailure == null ? timeout() : lastFailure);
        }
        releaseHeld();
        byOneCommand = true;
        return true;
    }

    private boolean fail(Throwable why) {
        releaseHeld();
        result.completeExceptionally(why);
        return false;
    }

    private void releaseHeld() {
        MultiLeaseHandle.releaseQuietly(held);
        held.clear();
    }

    private void noteBusy(List<Waiter> step) {
        for (Waiter waiter : step) {
            LockTimeoutException why = waiter.timeout();
            // Of several names in one command, the listener is notified of the busy one.
            if (why != null && (step.size() == 1 || !waiter.failsQuietly)) {
                busy = why;
            }
        }
    }

    /** Passes on why the only name was not acquired, or says it of the busy one of several. */
    private LockTimeoutException timeout() {
        LockTimeoutException last = busy;
        String reason = last == null ? "" : String.valueOf(last.getMessage());
        String message = reason;
        if (names.size() > 1 || last == null) {
            message = "The " + (names.size() == 1 ? "lock " : "locks ") + Quoted.names(names)
                    + (names.size() == 1 ? " was not free" : " were not free together")
                    + (waitNanos == 0 ? "" : " within " + DurationText.of(Duration.ofNanos(waitNanos)))
                    + (last == null
                            ? ""
                            : ": " + reason.substring(0, 1).toLowerCase(Locale.ROOT) + reason.substring(1));
        }
        Duration waited = Duration.ofNanos(Math.max(0, time.nanoTime() - startNanos));
        return new LockTimeoutException(
                message, names, waited, last == null ? null : last.holder().orElse(null));
    }

    private void onStepEnded(List<Waiter> ended, @Nullable Throwable failure) {
        if (failure != null) {
            lastFailure = failure;
        } else if (ended.stream().anyMatch(Waiter::wasAnswered)) {
            lastFailure = null;
        }
    }

    private void onNameAnswered(String name, Waiter waiter) {
        onStepEnded(List.of(waiter), null);
        if (waiter.wasAnswered() && name.equals(failing)) {
            failing = null;
        }
    }

    /**
     * Returns whether a failing store ends the round only. It does so if the leases that are held cut short the wait
     * for this name, so that the store had less than its time; it has that time in all rounds together.
     */
    private boolean isEndOfRound(String name, Waiter waiter, Throwable why) {
        long now = time.nanoTime();
        if (isOver() || now - waiter.arrivedNanos < waiter.waitNanos) {
            return false;
        }
        if (!name.equals(failing)) {
            failing = name;
            failingNanos = 0;
        }
        lastFailure = why;
        failingNanos += now - waiter.arrivedNanos;
        return failingNanos < engine.settings.storeTimeoutNanos();
    }

    private boolean isOver() {
        return waitNanos != Waiter.NO_DEADLINE && remainingNanos() <= 0;
    }

    private long remainingNanos() {
        return waitNanos - (time.nanoTime() - startNanos);
    }

    /**
     * Returns the options with a wait of what is left, and of no more than the time that the leases held may last at
     * all.
     */
    private LockOptions optionsForNext() {
        if (names.size() == 1 && !begun) {
            begun = true;
            return options;
        }
        long most = waitNanos == Waiter.NO_DEADLINE ? Waiter.NO_DEADLINE : Math.max(0, remainingNanos());
        for (Lease lease : held) {
            most = Math.min(most, LeaseHandle.active(lease).mostRemainingNanos());
        }
        return most == Waiter.NO_DEADLINE ? options : options.waitAtMost(Duration.ofNanos(most));
    }
}
