package io.holdfast.spring.call;

import static java.util.Objects.requireNonNull;

import io.holdfast.spring.declaration.LeaderOperation;
import io.holdfast.spring.declaration.Returns;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** One call of a method that runs only on the leader. */
final class LeaderCall {

    /** What is inside of this call: the method, or its lock and the method. */
    @FunctionalInterface
    interface Inner {
        @Nullable
        Object proceed(MethodInvocation invocation) throws Throwable;
    }

    private final LeaderOperation operation;
    private final Candidate candidate;

    private final ReentrantLock state = new ReentrantLock();
    private @Nullable Runnable stop; // by state; ends the work early
    private boolean stopped; // by state

    LeaderCall(LeaderOperation operation, Candidate candidate) {
        this.operation = operation;
        this.candidate = candidate;
    }

    LeaderOperation operation() {
        return operation;
    }

    /** Calls the method on this thread, or returns the result of a skipped call. */
    @Nullable
    Object run(MethodInvocation invocation, Inner inner) throws Throwable {
        Interrupts interrupts = new Interrupts();
        stopBy(interrupts::interrupt);
        TermCalls calls = candidate.begin(this);
        if (calls == null) {
            return skipped();
        }
        Object result = null;
        boolean goesOn = false;
        try {
            giveTerm(invocation, calls);
            Runnable leave = () -> {
                interrupts.close();
                calls.end(this);
            };
            result = LeaderThreads.<Throwable>in(calls.term(), leave, () -> inner.proceed(invocation));
            Returns.checkIsDone(operation.method(), result);
            goesOn = operation.returns() == Returns.STAGE && result != null;
        } finally {
            interrupts.close();
            if (!goesOn) {
                calls.end(this);
            }
        }
        if (goesOn) {
            CompletionStage<?> work = (CompletionStage<?>) requireNonNull(result);
            stopBy(() -> cancel(work));
            work.whenComplete((value, why) -> calls.end(this));
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

    void giveTerm(MethodInvocation to, TermCalls calls) {
        if (operation.termParameter() >= 0) {
            to.getArguments()[operation.termParameter()] = calls.term();
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the caller receives it
    private @Nullable Object skipped() {
        if (operation.returns() == Returns.STAGE) {
            return CompletableFuture.completedFuture(null);
        }
        return Returns.resultType(operation.method()) == Optional.class ? Optional.empty() : null;
    }

    /** Sets what ends the work early. Runs it at once if the term has been revoked. */
    void stopBy(Runnable way) {
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
