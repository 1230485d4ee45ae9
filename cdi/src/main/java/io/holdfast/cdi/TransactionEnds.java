package io.holdfast.cdi;

import io.holdfast.LeaseLostException;
import io.holdfast.Term;
import io.holdfast.leader.LeaderThreads;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionSynchronizationRegistry;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the leases of a thread until the transaction ends in which it runs, and verifies them and its terms just before
 * its commit.
 * Only a fencing token covers the moment between this check and the commit at the database. Loaded only where Jakarta
 * Transactions are.
 */
final class TransactionEnds {

    private static final String JNDI = "java:comp/TransactionSynchronizationRegistry";

    private final TransactionSynchronizationRegistry registry;

    private TransactionEnds(TransactionSynchronizationRegistry registry) {
        this.registry = registry;
    }

    /** Returns null if the container has no transactions. */
    @SuppressWarnings("BanJNDI") // the name is a constant
    static @Nullable TransactionEnds find(BeanManager beans) {
        Instance<TransactionSynchronizationRegistry> bean =
                beans.createInstance().select(TransactionSynchronizationRegistry.class);
        if (bean.isResolvable()) {
            return new TransactionEnds(bean.get());
        }
        try {
            return new InitialContext().lookup(JNDI) instanceof TransactionSynchronizationRegistry found
                    ? new TransactionEnds(found)
                    : null;
        } catch (NamingException e) {
            return null;
        }
    }

    /** Returns whether the calling thread is in a transaction that can commit. */
    boolean isActive() {
        return registry.getTransactionStatus() == Status.STATUS_ACTIVE;
    }

    void setRollbackOnly() {
        registry.setRollbackOnly();
    }

    /** Registers leases and terms of the calling thread with its transaction, each once, if there is one. */
    void await() {
        if (!isActive()) {
            return;
        }
        for (Term term : LeaderThreads.terms()) {
            if (registry.getResource(term) == null) {
                registry.putResource(term, term);
                registry.registerInterposedSynchronization(new TermEnd(registry, term));
            }
        }
        for (Held held : Held.ofThread()) {
            if (registry.getResource(held) == null && held.enter()) {
                registry.putResource(held, held);
                registry.registerInterposedSynchronization(new End(registry, held));
            }
        }
    }

    private record TermEnd(TransactionSynchronizationRegistry registry, Term term) implements Synchronization {

        @Override
        public void beforeCompletion() {
            try {
                term.ensureValid();
            } catch (LeaseLostException | IllegalStateException e) {
                registry.setRollbackOnly();
                throw e;
            }
        }

        @Override
        public void afterCompletion(int status) {}
    }

    private record End(TransactionSynchronizationRegistry registry, Held held) implements Synchronization {

        @Override
        public void beforeCompletion() {
            try {
                held.lease().ensureValid();
            } catch (LeaseLostException e) {
                registry.setRollbackOnly();
                throw e;
            }
        }

        /** Any thread may call it: a transaction manager may complete the transaction on a thread of its own. */
        @Override
        public void afterCompletion(int status) {
            try {
                held.leave();
            } catch (LeaseLostException e) {
                // After a rollback nothing unprotected was done. After a commit, the container logs the exception, and
                // the call that acquired the lease throws one if it still runs.
                if (status != Status.STATUS_ROLLEDBACK) {
                    throw e;
                }
            }
        }
    }
}
