package io.holdfast.spring.call;

import io.holdfast.LeaseLostException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Keeps the leases of a call until the caller's transaction ends. That commits after the method has returned, and until
 * then no other holder may see the old state. Loaded only where spring-tx is present.
 *
 * @param held registered once for each transaction
 */
record TransactionEnd(HeldLeases.Entry held) implements TransactionSynchronization {

    /** Registers with the current transaction, if there is one. */
    static void await(HeldLeases.Entry held) {
        if (!TransactionSynchronizationManager.isActualTransactionActive()
                || !TransactionSynchronizationManager.isSynchronizationActive()) {
            return;
        }
        TransactionEnd end = new TransactionEnd(held);
        if (!TransactionSynchronizationManager.getSynchronizations().contains(end) && held.enter()) {
            TransactionSynchronizationManager.registerSynchronization(end);
        }
    }

    /** Any thread may call it: a JTA transaction manager may complete the transaction on a thread of its own. */
    @Override
    public void afterCompletion(int status) {
        try {
            held.leave();
        } catch (LeaseLostException e) {
            // After a rollback nothing unprotected was done. After a commit, or a possible one, Spring logs the
            // exception; nothing else would report it.
            if (status != STATUS_ROLLED_BACK) {
                throw e;
            }
        }
    }
}
