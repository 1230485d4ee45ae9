package io.holdfast.spring.call;

import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.LeadershipOptions;
import io.holdfast.Term;
import io.holdfast.leader.Candidate;
import io.holdfast.leader.Candidates;
import io.holdfast.leader.LeaderCall;
import io.holdfast.spring.Leaderships;
import io.holdfast.spring.declaration.LeaderOperation;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.spring.declaration.Marks;
import io.holdfast.spring.declaration.Returns;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** The leaderships of a context. Thread-safe. */
public final class ContextLeaderships implements Leaderships {

    /** What is inside of a call: the method, or its lock and the method. */
    @FunctionalInterface
    interface Inner {
        @Nullable
        Object proceed(MethodInvocation invocation) throws Throwable;
    }

    private final Candidates candidates;

    /** @param options asked when the first candidate begins */
    public ContextLeaderships(Clients clients, Supplier<LeadershipOptions> options) {
        this.candidates = new Candidates(clients::get, options, LockedDefinitionException::new);
    }

    /**
     * Adds a leadership that a method names.
     *
     * @param client name or qualifier of the client; empty: the primary one
     * @param place the annotation and what it is on, for messages
     */
    public void declare(String leadership, String client, String place) {
        candidates.candidate(leadership, client, place);
    }

    /**
     * Adds a listener.
     *
     * @throws LockedDefinitionException if the leadership has one, or there is no such client
     */
    public void listen(String leadership, String client, Supplier<LeadershipListener> listener, String place) {
        candidates.listen(leadership, client, listener, place);
    }

    /** Begins to campaign for all leaderships. */
    public void begin() {
        candidates.begin();
    }

    /** Ends the campaigns; returns the leaderships to close. Calls are skipped from now on. */
    public List<Leadership> end() {
        return candidates.end();
    }

    @Override
    public Set<String> names() {
        return candidates.names();
    }

    @Override
    public Optional<Term> term(String name) {
        return candidates.term(name);
    }

    /** Runs the call if its leadership is this process's, or returns the result of a skipped call. */
    @Nullable
    Object call(LeaderOperation operation, MethodInvocation invocation, Inner inner) throws Throwable {
        Candidate candidate =
                candidates.candidate(operation.leadership(), operation.client(), Marks.on(operation.method()));
        return switch (operation.returns()) {
            case VALUE, STAGE ->
                new LeaderCall(candidate, operation.describe())
                        .<Throwable>run(
                                operation.returns() == Returns.STAGE, Returns.resultType(operation.method()), term -> {
                                    giveTerm(operation, invocation, term);
                                    Object result = inner.proceed(invocation);
                                    Returns.checkIsDone(operation.method(), result);
                                    return result;
                                });
            case MONO, SUSPENDED -> new ReactiveLeaderCall(operation, candidate, invocation, inner).mono();
            case FLUX -> new ReactiveLeaderCall(operation, candidate, invocation, inner).flux();
        };
    }

    static void giveTerm(LeaderOperation operation, MethodInvocation to, Term term) {
        if (operation.termParameter() >= 0) {
            to.getArguments()[operation.termParameter()] = term;
        }
    }
}
