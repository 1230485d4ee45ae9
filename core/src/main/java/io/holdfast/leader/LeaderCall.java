package io.holdfast.leader;

import static java.util.Objects.requireNonNull;

import io.holdfast.Term;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** One call of a method that runs only on the leader. */
public final class LeaderCall {

    /** What is inside of this call: the method, or its lock and the method. */
    @FunctionalInterface
    public interface Work<E extends Throwable> {
        @Nullable
        Object run(Term term) throws E;
    }

    private final Candidate candidate;
    private final String method;
    private @Nullable TermCalls calls; // set once, by begin

    private final ReentrantLock state = new ReentrantLock();
    private @Nullable Runnable stop; // by state; ends the work early
    private boolean stopped; // by state

    /** @param method for messages */
    public LeaderCall(Candidate candidate, String method) {
        this.candidate = candidate;
        this.method = method;
    }

    String method() {
        return method;
    }

    /** Returns whether this process leads. Then the call runs in that {@link #term}, and must {@link #end}. */
    public boolean begin() {
        calls = candidate.begin(this);
        return calls != null;
    }

    /** Returns the term in which the call has begun. */
    public Term term() {
        return requireNonNull(calls).term();
    }

    /** Ends the call. Idempotent. */
    public void end() {
        requireNonNull(calls).end(this);
    }

    /**
     * Does the work on this thread, or returns the result of a skipped call.
     *
     * @param isStage whether the work goes on until the stage completes that it returns
     * @param type of the result
     */
    public <E extends Throwable> @Nullable Object run(boolean isStage, Class<?> type, Work<E> work) throws E {
        Interrupts interrupts = new Interrupts();
        stopBy(interrupts::interrupt);
        if (!begin()) {
            return skipped(isStage, type);
        }
        Object result = null;
        boolean goesOn = false;
        try {
            Term term = term();
            Runnable leave = () -> {
                interrupts.close();
                end();
            };
            result = LeaderThreads.<E>in(term, leave, () -> work.run(term));
            goesOn = isStage && result != null;
        } finally {
            interrupts.close();
            if (!goesOn) {
                end();
            }
        }
        if (goesOn) {
            CompletionStage<?> running = (CompletionStage<?>) requireNonNull(result);
            stopBy(() -> cancel(running));
            running.whenComplete((value, why) -> end());
        }
        return result;
    }

    private static void cancel(CompletionStage<?> work) {
        try {
            work.toCompletableFuture().cancel(true);
        } catch (RuntimeException e) {
            // A stage may refuse the conversion, with any exception. The revocation waits for its work.
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the caller receives it
    private static @Nullable Object skipped(boolean isStage, Class<?> type) {
        if (isStage) {
            return CompletableFuture.completedFuture(null);
        }
        return type == Optional.class ? Optional.empty() : null;
    }

    /** Sets what ends the work early. Runs it at once if the term has been revoked. */
    public void stopBy(Runnable way) {
        boolean late;
        state.lock();
        try {
            stop = way;
            late = stopped;
        } finally {
            state.unlock();
        }
        if (late) {
            way.run();
        }
    }

    /** Ends the work early: the term is revoked. */
    void stop() {
        Runnable way;
        state.lock();
        try {
            stopped = true;
            way = stop;
        } finally {
            state.unlock();
        }
        if (way != null) {
            way.run();
        }
    }
}
