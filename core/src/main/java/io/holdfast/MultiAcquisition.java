package io.holdfast;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The acquisition of several names: by one command if the store can, nobody here uses them and all are free; otherwise one after
 * the other in the order of the names, so that two groups cannot wait for each other in a circle, and with one deadline for
 * all.
 *
 * <p>A lease that ends while the next name is waited for (a short {@code leaseFor}, a forced release) ends the round: what is held
 * is released and the next round begins, until the deadline. Hence at the end all were valid at one moment.
 */
final class MultiAcquisition {

    private final Engine engine;
    private final List<String> names;
    private final LockOptions options;
    private final WaitMode mode;
    private final TimeSource time;
    private final long startNanos;
    private final long waitNanos;

    /**
     * Why the store last failed, if it has given no good answer since: then an end of the wait is no time-out (design rule 11).
     * Written by one step after the other.
     */
    private @Nullable Throwable lastFailure;

    /** Whether the store has said anything of any name. Written by one step after the other. */
    private boolean answered;

    /** A name that the store fails for, if its waits were cut short, and for how long. Written by one step after the other. */
    private @Nullable String failing;

    private long failingNanos;

    MultiAcquisition(Engine engine, Collection<String> names, LockOptions options, WaitMode mode) {
        this.engine = engine;
        this.options = java.util.Objects.requireNonNull(options, "options");
        this.mode = mode;
        this.time = engine.settings.time;
        this.startNanos = time.nanoTime();
        this.waitNanos = Waiter.waitNanos(options, mode);
        TreeSet<String> sorted = new TreeSet<>();
        names.forEach(name -> sorted.add(Limits.checkName(name)));
        if (sorted.isEmpty()) {
            throw new IllegalArgumentException("lock names: none (expected: at least one)");
        }
        this.names = List.copyOf(sorted);
    }

    // --- for the calling thread ---

    /** Empty if the wait time passed. */
    Optional<MultiLease> await() throws InterruptedException {
        while (true) {
            List<Lease> held = new ArrayList<>(names.size());
            boolean complete = false;
            try {
                List<Waiter> together = engine.submitTogether(names, () -> together(true));
                complete = !together.isEmpty() && awaitTogether(together, held);
                if (!complete && mayAskInTurn(together)) {
                    complete = awaitRound(held);
                }
                if (complete) {
                    return Optional.of(new MultiLeaseHandle(held));
                }
            } finally {
                if (!complete) {
                    MultiLeaseHandle.releaseQuietly(held);
                }
            }
            if (isOver()) {
                if (lastFailure instanceof LockException failure) {
                    throw failure;
                }
                return Optional.empty();
            }
        }
    }

    /** By one command. If not all were taken, nothing is held. */
    private boolean awaitTogether(List<Waiter> waiters, List<Lease> held) throws InterruptedException {
        LockException failure = null;
        for (int i = 0; i < waiters.size(); i++) {
            try {
                waiters.get(i).awaitOptional().ifPresent(held::add);
            } catch (LockException e) {
                failure = e;
            } catch (InterruptedException e) {
                waiters.subList(i + 1, waiters.size()).forEach(MultiAcquisition::giveUp);
                throw e;
            }
        }
        heardOf(waiters, failure);
        if (held.size() == names.size() && allValid(held)) {
            return true;
        }
        MultiLeaseHandle.releaseQuietly(held);
        held.clear();
        return false;
    }

    /**
     * One attempt is one attempt: by one command, or in turn where that cannot be, or where a second look must show
     * whether one of the names can ever become free.
     */
    private boolean mayAskInTurn(List<Waiter> together) {
        return together.isEmpty() || (waitNanos > 0 ? !isOver() : together.get(0).looksAgain);
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

    /** The listener hears of it only if this is the one attempt; otherwise the names are asked for once more. */
    private Waiter together(boolean blocking) {
        return Waiter.together(optionsFor(List.of()), blocking, waitNanos > 0, time.nanoTime());
    }

    private boolean awaitRound(List<Lease> held) throws InterruptedException {
        for (String name : names) {
            if (isInVain(held)) {
                return false;
            }
            Waiter waiter = engine.submit(name, optionsFor(held), mode, null);
            Optional<Lease> lease;
            try {
                lease = waiter.awaitOptional();
            } catch (LockStoreException e) {
                if (!isEndOfRound(name, waiter, e)) {
                    throw e;
                }
                return false;
            }
            answered(name, waiter);
            if (lease.isEmpty()) {
                return false;
            }
            held.add(lease.get());
        }
        return allValid(held);
    }

    // --- without a thread that waits ---

    CompletionStage<Optional<MultiLease>> stage() {
        return new Stages().begin();
    }

    /** One chain of acquisitions; each step runs when the one before is done, on the callback executor. */
    private final class Stages {

        private final CompletableFuture<Optional<MultiLease>> result = new CompletableFuture<>();

        /** What waits now; written before {@link #result} is looked at, so that a cancel finds it or is found. */
        private volatile List<CompletableFuture<Optional<Lease>>> waiting = List.of();

        CompletionStage<Optional<MultiLease>> begin() {
            CompletionStage<Optional<MultiLease>> watched = result;
            // By whomever it was completed: if by a step of ours, none of these waits any more.
            watched.whenComplete((value, why) -> waiting.forEach(step -> step.cancel(false)));
            round();
            return result;
        }

        private void round() {
            List<Lease> held = new ArrayList<>(names.size());
            List<Waiter> together;
            try {
                together = engine.submitTogether(names, () -> together(false));
            } catch (LockClientClosedException e) {
                fail(held, e);
                return;
            }
            if (together.isEmpty()) {
                next(held);
                return;
            }
            List<CompletableFuture<Optional<Lease>>> steps = together.stream()
                    .map(waiter -> waiter.optionalStage().toCompletableFuture())
                    .toList();
            waitFor(steps);
            CompletionStage<Void> all = CompletableFuture.allOf(steps.toArray(CompletableFuture[]::new));
            all.whenComplete((nothing, why) -> {
                for (CompletableFuture<Optional<Lease>> step : steps) {
                    if (!step.isCompletedExceptionally()) {
                        step.join().ifPresent(held::add);
                    }
                }
                Throwable cause = why instanceof CompletionException ? why.getCause() : why;
                heardOf(together, cause == null ? why : cause);
                takenTogether(together, held);
            });
        }

        private void takenTogether(List<Waiter> together, List<Lease> held) {
            if (held.size() == names.size()) {
                proceed(held);
            } else if (lastFailure instanceof LeaseLostException undelivered) {
                // The callback executor runs nothing: the next round would fare no better.
                fail(held, undelivered);
            } else if (result.isDone() || !mayAskInTurn(together)) {
                again(held);
            } else {
                MultiLeaseHandle.releaseQuietly(held);
                next(new ArrayList<>(names.size()));
            }
        }

        private void waitFor(List<CompletableFuture<Optional<Lease>>> steps) {
            waiting = steps;
            if (result.isDone()) {
                steps.forEach(step -> step.cancel(false));
            }
        }

        private void next(List<Lease> held) {
            if (isInVain(held)) {
                again(held);
                return;
            }
            String name = names.get(held.size());
            Waiter waiter;
            try {
                waiter = engine.submitAsync(name, optionsFor(held), mode);
            } catch (LockClientClosedException e) {
                fail(held, e);
                return;
            }
            CompletableFuture<Optional<Lease>> step = waiter.optionalStage().toCompletableFuture();
            waitFor(List.of(step));
            CompletionStage<Optional<Lease>> watched = step;
            watched.whenComplete((lease, why) -> {
                if (why != null) {
                    if (isEndOfRound(name, waiter, why)) {
                        again(held);
                    } else {
                        fail(held, why);
                    }
                    return;
                }
                answered(name, waiter);
                if (lease.isEmpty()) {
                    again(held);
                } else {
                    held.add(lease.get());
                    proceed(held);
                }
            });
        }

        private void proceed(List<Lease> held) {
            if (held.size() < names.size()) {
                next(held);
            } else if (!allValid(held)) {
                again(held);
            } else if (!result.complete(Optional.of(new MultiLeaseHandle(held)))) {
                // Cancelled in the last moment: nobody else will ever release them.
                MultiLeaseHandle.releaseQuietly(held);
            }
        }

        private void again(List<Lease> held) {
            Throwable failure = lastFailure;
            if (failure != null && isOver()) {
                fail(held, failure);
                return;
            }
            MultiLeaseHandle.releaseQuietly(held);
            if (isOver() || result.isDone()) {
                result.complete(Optional.empty());
            } else {
                round();
            }
        }

        private void fail(List<Lease> held, Throwable why) {
            MultiLeaseHandle.releaseQuietly(held);
            result.completeExceptionally(why);
        }
    }

    LockTimeoutException timeout() {
        String wait = DurationText.of(Duration.ofNanos(waitNanos));
        String locks = names.size() == 1 ? "lock " : "locks ";
        String be = names.size() == 1 ? " is" : " are";
        String message = waitNanos > 0 && !answered
                ? "The store did not answer within " + wait + " whether the " + locks + Quoted.names(names) + be
                        + " free"
                : "The " + locks + Quoted.names(names)
                        + (names.size() == 1 ? " was not free" : " were not free together")
                        + (waitNanos == 0 ? "" : " within " + wait);
        Duration waited = Duration.ofNanos(Math.max(0, time.nanoTime() - startNanos));
        return new LockTimeoutException(message, names, waited, null);
    }

    private void heardOf(List<Waiter> ended, @Nullable Throwable failure) {
        if (failure != null) {
            lastFailure = failure;
        } else if (ended.stream().anyMatch(Waiter::wasAnswered)) {
            lastFailure = null;
            answered = true;
        }
    }

    /** Whether to ask for the next name would be too late, or for nothing. */
    private boolean isInVain(List<Lease> held) {
        return !held.isEmpty() && ((waitNanos > 0 && isOver()) || !allValid(held));
    }

    private void answered(String name, Waiter waiter) {
        heardOf(List.of(waiter), null);
        if (waiter.wasAnswered() && name.equals(failing)) {
            failing = null;
        }
    }

    /**
     * Whether a failing store ends the round only: when the wait for this name was cut short by what is held already, so that the
     * store was not given its time. It is given that in all the rounds together.
     */
    private boolean isEndOfRound(String name, Waiter waiter, Throwable why) {
        long now = time.nanoTime();
        if (!(why instanceof LockStoreException) || isOver() || now - waiter.arrivedNanos < waiter.waitNanos) {
            return false;
        }
        if (!name.equals(failing)) {
            failing = name;
            failingNanos = 0;
        }
        lastFailure = why;
        failingNanos += now - waiter.arrivedNanos;
        return failingNanos < engine.settings.storeTimeoutNanos;
    }

    private static boolean allValid(List<Lease> held) {
        return held.stream().allMatch(Lease::isValid);
    }

    private boolean isOver() {
        return waitNanos != Waiter.NO_DEADLINE && remainingNanos() <= 0;
    }

    private long remainingNanos() {
        return waitNanos - (time.nanoTime() - startNanos);
    }

    /** For the next name: what is left of the wait, and no longer than what is held may last at all. */
    private LockOptions optionsFor(List<Lease> held) {
        long most = waitNanos == Waiter.NO_DEADLINE ? Waiter.NO_DEADLINE : Math.max(0, remainingNanos());
        for (Lease lease : held) {
            most = Math.min(most, LeaseHandle.active(lease).mostRemainingNanos());
        }
        return most == Waiter.NO_DEADLINE ? options : options.waitAtMost(Duration.ofNanos(most));
    }
}
