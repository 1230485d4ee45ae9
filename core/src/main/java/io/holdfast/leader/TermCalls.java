package io.holdfast.leader;

import io.holdfast.Term;
import io.holdfast.spi.StageWait;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

/**
 * The calls that run in one term of a leader.
 *
 * <p>Invariant: a call begins only before {@link #stop}, and each call that has begun ends. So when {@link #awaitEnd}
 * returns, no method runs in this term, now or later.
 */
final class TermCalls {

    private static final System.Logger LOG = System.getLogger(TermCalls.class.getName());

    /** How often to look whether the term's lock is still held, while calls end. */
    private static final Duration LOOK = Duration.ofMillis(100);

    private final Term term;
    private final CompletableFuture<Void> idle = new CompletableFuture<>();

    /** Guards the fields below. */
    private final ReentrantLock state = new ReentrantLock();

    private final Set<LeaderCall> running = new LinkedHashSet<>();
    private boolean stopped;

    TermCalls(Term term) {
        this.term = term;
    }

    Term term() {
        return term;
    }

    /** Returns whether the call may run. Then it must {@link #end}. */
    boolean begin(LeaderCall call) {
        state.lock();
        try {
            return !stopped && running.add(call);
        } finally {
            state.unlock();
        }
    }

    /** Ends a call. Idempotent. */
    void end(LeaderCall call) {
        boolean last;
        state.lock();
        try {
            last = running.remove(call) && stopped && running.isEmpty();
        } finally {
            state.unlock();
        }
        if (last) {
            idle.complete(null);
        }
    }

    /** Lets no call begin any more, and interrupts or cancels those that run. */
    void stop() {
        List<LeaderCall> all;
        state.lock();
        try {
            stopped = true;
            all = List.copyOf(running);
        } finally {
            state.unlock();
        }
        if (all.isEmpty()) {
            idle.complete(null);
        }
        all.forEach(LeaderCall::stop);
    }

    /** Waits until all calls have ended. Logs those that still run when another process may lead. */
    void awaitEnd() {
        boolean logged = false;
        while (!idle.isDone()) {
            StageWait.awaitUninterruptibly(idle, LOOK);
            if (!logged && !idle.isDone() && !term.isValid()) {
                logged = true;
                LOG.log(
                        System.Logger.Level.WARNING,
                        "Another process may lead \"" + term.leadership() + "\" while this one still runs "
                                + describeRunning() + " (expected: methods that end when their thread is interrupted)");
            }
        }
    }

    private String describeRunning() {
        state.lock();
        try {
            return running.stream().map(LeaderCall::method).distinct().collect(Collectors.joining(", "));
        } finally {
            state.unlock();
        }
    }
}
