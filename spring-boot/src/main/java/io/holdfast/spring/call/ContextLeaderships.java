package io.holdfast.spring.call;

import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.LeadershipOptions;
import io.holdfast.LockClient;
import io.holdfast.Term;
import io.holdfast.spring.Leaderships;
import io.holdfast.spring.declaration.LeaderOperation;
import io.holdfast.spring.declaration.Marks;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** The candidates of a context, one for each leadership and client. Thread-safe. */
public final class ContextLeaderships implements Leaderships {

    private record Key(String leadership, String client) {}

    private final Clients clients;
    private final Supplier<LeadershipOptions> options;
    private final Map<Key, Candidate> candidates = new ConcurrentHashMap<>();

    /** Guards {@link #begun}, and the begins and ends of candidates: none begins after an end. */
    private final ReentrantLock state = new ReentrantLock();

    /** Whether candidates stand for their leaderships. */
    private boolean begun;

    /** @param options asked when the first candidate begins */
    public ContextLeaderships(Clients clients, Supplier<LeadershipOptions> options) {
        this.clients = clients;
        this.options = options;
    }

    /**
     * Adds a leadership that a method names.
     *
     * @param client name or qualifier of the client; empty: the primary one
     * @param place the annotation and what it is on, for messages
     */
    public void declare(String leadership, String client, String place) {
        candidate(leadership, client, place);
    }

    /**
     * Adds a listener.
     *
     * @throws io.holdfast.spring.declaration.LockedDefinitionException if the leadership has one, or there is no such
     *     client
     */
    public void listen(String leadership, String client, Supplier<LeadershipListener> listener, String place) {
        clients.get(client, place);
        candidate(leadership, client, place).listen(listener, place);
    }

    private Candidate candidate(String leadership, String client, String place) {
        Key key = new Key(leadership, client);
        Candidate known = candidates.get(key);
        if (known != null) {
            return known;
        }
        Candidate made = new Candidate(leadership, place);
        Candidate first = candidates.putIfAbsent(key, made);
        if (first != null) {
            return first;
        }
        if (isBegun()) {
            // A bean that is made at its first use.
            begin(key, made);
        }
        return made;
    }

    private boolean isBegun() {
        state.lock();
        try {
            return begun;
        } finally {
            state.unlock();
        }
    }

    /** Begins to stand for all leaderships. */
    public void begin() {
        state.lock();
        try {
            begun = true;
        } finally {
            state.unlock();
        }
        candidates.forEach(this::begin);
    }

    private void begin(Key key, Candidate candidate) {
        // Before the lock is taken: nothing of ours may be locked while Spring looks a bean up.
        LockClient client = clients.get(key.client, candidate.place());
        LeadershipOptions chosen = options.get();
        state.lock();
        try {
            if (begun) {
                candidate.begin(client, chosen);
            }
        } finally {
            state.unlock();
        }
    }

    /** Ends to stand for the leaderships; returns those to close. Calls are skipped from now on. */
    public List<Leadership> end() {
        state.lock();
        try {
            begun = false;
            return candidates.values().stream()
                    .map(Candidate::end)
                    .flatMap(Optional::stream)
                    .toList();
        } finally {
            state.unlock();
        }
    }

    @Override
    public Set<String> names() {
        return candidates.keySet().stream().map(Key::leadership).collect(Collectors.toCollection(TreeSet::new));
    }

    @Override
    public Optional<Term> term(String name) {
        return candidates.values().stream()
                .filter(each -> each.name().equals(name))
                .flatMap(each -> each.term().stream())
                .findFirst();
    }

    /** Runs the call if its leadership is this process's, or returns the result of a skipped call. */
    @Nullable
    Object call(LeaderOperation operation, MethodInvocation invocation, LeaderCall.Inner inner) throws Throwable {
        Candidate candidate = candidate(operation.leadership(), operation.client(), Marks.on(operation.method()));
        return switch (operation.returns()) {
            case VALUE, STAGE -> new LeaderCall(operation, candidate).run(invocation, inner);
            case MONO, SUSPENDED -> new ReactiveLeaderCall(operation, candidate, invocation, inner).mono();
            case FLUX -> new ReactiveLeaderCall(operation, candidate, invocation, inner).flux();
        };
    }
}
