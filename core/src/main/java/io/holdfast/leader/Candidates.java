package io.holdfast.leader;

import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.LeadershipOptions;
import io.holdfast.LockClient;
import io.holdfast.Term;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The candidates of an application, one for each leadership and client. Thread-safe. */
public final class Candidates {

    /** Makes the framework's exception for a declaration that cannot work. */
    @FunctionalInterface
    public interface Refusal {

        RuntimeException of(String place, String what, String wayOut);
    }

    private record Key(String leadership, String client) {}

    private final BiFunction<String, String, LockClient> clients;
    private final Supplier<LeadershipOptions> options;
    private final Refusal refusal;
    private final Map<Key, Candidate> candidates = new ConcurrentHashMap<>();

    /** Guards the begins and ends of candidates: none begins after an end. */
    private final ReentrantLock state = new ReentrantLock();

    /** Whether candidates campaign for their leaderships. Becomes false under the lock. */
    private volatile boolean begun;

    /**
     * @param clients return the client with a name; empty: the default one. The second text is the annotation that names
     *     the client, for messages
     * @param options the options of all leaderships; asked when a candidate begins
     */
    public Candidates(
            BiFunction<String, String, LockClient> clients, Supplier<LeadershipOptions> options, Refusal refusal) {
        this.clients = clients;
        this.options = options;
        this.refusal = refusal;
    }

    /**
     * Adds a listener.
     *
     * @throws RuntimeException of the framework, if the leadership has one, or there is no such client
     */
    public void listen(String leadership, String client, Supplier<LeadershipListener> listener, String place) {
        var unused = clients.apply(client, place); // refuses one that is not there
        if (!candidate(leadership, client, place).listen(listener)) {
            throw refusal.of(
                    place,
                    "another bean is a LeadershipListener of \"" + leadership + "\", too",
                    "one listener for a leadership, which calls the others");
        }
    }

    /**
     * Returns the candidate for a leadership, which is new or was named before.
     *
     * @param client name of the client; empty: the default one
     * @param place the annotation and what it is on, for messages
     */
    public Candidate candidate(String leadership, String client, String place) {
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
        if (begun) {
            // A bean that is made at its first use.
            begin(key, made);
        }
        return made;
    }

    /** Begins to campaign for all leaderships. */
    public void begin() {
        begun = true;
        candidates.forEach(this::begin);
    }

    private void begin(Key key, Candidate candidate) {
        // Before the lock is taken: nothing of ours may be locked while the framework looks a bean up.
        LockClient client = clients.apply(key.client, candidate.place());
        LeadershipOptions chosen = options.get();
        state.lock();
        try {
            if (begun) {
                candidate.begin(client, chosen);
            }
        } catch (IllegalArgumentException e) {
            throw refusal.of(
                    candidate.place(),
                    String.valueOf(e.getMessage()),
                    "another name, or another holdfast.leader.stop-within");
        } finally {
            state.unlock();
        }
    }

    /** Ends the campaigns; returns the leaderships to close. Calls are skipped from now on. */
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

    /** Returns the names of the leaderships, sorted. */
    public Set<String> names() {
        return candidates.keySet().stream().map(Key::leadership).collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the term in which calls for this name run now; empty if they are skipped. */
    public Optional<Term> term(String name) {
        return candidates.values().stream()
                .filter(each -> each.name().equals(name))
                .flatMap(each -> each.term().stream())
                .findFirst();
    }
}
