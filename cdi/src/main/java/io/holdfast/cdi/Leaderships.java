package io.holdfast.cdi;

import io.holdfast.Term;
import java.util.Optional;
import java.util.Set;

/**
 * The leaderships for which the container campaigns because of {@link Leader}. A bean.
 *
 * <pre>{@code
 * @Scheduled(every = "1s")
 * @Leader("outbox")
 * void send() {
 *     Term term = leaderships.term("outbox").orElseThrow();
 *     for (Message each : outbox.next()) {
 *         term.ensureValid();
 *         broker.send(each, term.fencingToken());
 *     }
 * }
 * }</pre>
 *
 * <p>Thread-safe. Costs no command.
 */
public interface Leaderships {

    /** Returns the names of the leaderships, sorted. */
    Set<String> names();

    /**
     * Returns the term in which methods with this name run now; empty if they are skipped. They are skipped while this
     * process does not lead, and if no bean has such a method. If two clients have leaderships of this name, the term
     * is that of either.
     */
    Optional<Term> term(String name);
}
