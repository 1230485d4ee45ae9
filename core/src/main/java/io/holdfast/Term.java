package io.holdfast;

import java.time.Duration;

/**
 * The time for which one client leads: from an election to its revocation.
 *
 * <pre>{@code
 * void pay(Term term, Invoice invoice) {
 *     term.ensureValid();                                   // LeaseLostException if the term is over
 *     payments.pay(invoice, term.fencingToken());           // the service refuses smaller tokens than its last
 * }
 * }</pre>
 *
 * <p>Nobody can tell a process that is paused. It learns from its first call after the pause, so {@link #ensureValid}
 * belongs before each effect, and the token into each. Thread-safe.
 */
public final class Term {

    private final String leadership;
    private final Lease lease;

    Term(String leadership, Lease lease) {
        this.leadership = leadership;
        this.lease = lease;
    }

    /** Returns the name of the leadership. */
    public String leadership() {
        return leadership;
    }

    /** Returns the number of the term, which is greater than those of all earlier terms, over all clients. */
    public long fencingToken() {
        return lease.fencingToken();
    }

    /** Returns whether nobody else can lead now. Stays true while a revoked term is being stopped. */
    public boolean isValid() {
        return lease.isValid();
    }

    /** Returns for how long nobody else can lead if no further renewal succeeds; zero if the term is over. */
    public Duration remaining() {
        return lease.remaining();
    }

    /**
     * Returns normally if nobody else can lead now.
     *
     * @throws LeaseLostException if the lease of the term is lost
     * @throws IllegalStateException if the term is over
     */
    public void ensureValid() {
        lease.ensureValid();
    }

    /** Returns leadership, token and state, for logs. */
    @Override
    public String toString() {
        return "Term[" + leadership + ", token " + fencingToken() + (isValid() ? ", valid]" : ", over]");
    }
}
