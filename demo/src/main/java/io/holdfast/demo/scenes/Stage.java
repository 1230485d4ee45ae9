package io.holdfast.demo.scenes;

import io.holdfast.LockClient;
import io.holdfast.LockState;
import io.holdfast.history.Findings;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * What a scene has at hand.
 *
 * @param observer a client of this process, which looks and never locks
 * @param prefix of the lock names, different in each performance
 * @param exactEnds whether the store knows to the millisecond when a hold ends by itself; ZooKeeper ends the session of
 *     a
 *     dead process up to a third of it sooner than it says, and up to a tick later
 */
record Stage(
        Crew crew,
        Shop shop,
        Histories histories,
        LockClient observer,
        String prefix,
        boolean exactEnds,
        Progress.Line line) {

    /** A lease for work that is short: long enough to outlive the hiccups of a busy machine. */
    static final long LONG_LEASE = 10_000;

    /** A lease for scenes that wait for its end. It is renewed in time also where a machine stalls for a second. */
    static final long SHORT_LEASE = 4_000;

    /** Longer than anything here takes on a slow machine. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final long REDRAW_MILLIS = 100;

    String lock(String what) {
        return prefix + what;
    }

    /** What the processes recorded of a lock is in order: exclusion, tokens, outcomes. */
    void checkHistory(Verdict verdict, String lock, long leaseMillis) throws IOException {
        Findings found = histories.check(lock, Duration.ofMillis(leaseMillis));
        verdict.check(
                "the recorded history is in order",
                found.held() && found.granted() > 0,
                found.held()
                        ? found.granted() + " leases of " + found.operations() + " uses"
                        : found.violations().get(0));
    }

    Message await(CompletableFuture<Message> reply, Supplier<String> progress) throws Exception {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() - end < 0) {
            line.show(progress.get());
            try {
                return reply.get(REDRAW_MILLIS, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                // shows the progress and waits on
            } catch (ExecutionException e) {
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
        }
        throw new TimeoutException("nothing came of it in " + PATIENCE.toSeconds() + " s");
    }

    List<Message> awaitAll(List<CompletableFuture<Message>> replies, Supplier<String> progress) throws Exception {
        List<Message> all = new java.util.ArrayList<>();
        for (CompletableFuture<Message> reply : replies) {
            all.add(await(reply, progress));
        }
        return all;
    }

    /** Returns when somebody waits for the lock at the store, so that what follows happens to a waiter. */
    void awaitWaiter(String lock, Supplier<String> progress) throws InterruptedException, TimeoutException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (observer.inspect(lock).waitingClients() == 0) {
            if (System.nanoTime() - end >= 0) {
                throw new TimeoutException("nobody came to wait for " + lock);
            }
            line.show(progress.get());
            Thread.sleep(REDRAW_MILLIS / 2);
        }
    }

    void pause(long millis, Supplier<String> progress) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        for (long left; (left = end - System.nanoTime()) > 0; ) {
            line.show(progress.get());
            Thread.sleep(Math.min(REDRAW_MILLIS, TimeUnit.NANOSECONDS.toMillis(left) + 1));
        }
    }

    /**
     * When the present hold on the lock ends unless renewed, on this process's monotonic clock; not later than that.
     */
    long leaseEndNanos(String lock) {
        long asked = System.nanoTime();
        LockState state = observer.inspect(lock);
        return asked + state.remaining().orElse(Duration.ZERO).toNanos();
    }
}
