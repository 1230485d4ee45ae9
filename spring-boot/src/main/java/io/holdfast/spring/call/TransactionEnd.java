package io.holdfast.spring.call;

import io.holdfast.LeaseLostException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Holds the leases of a call until the transaction ends that its caller has already: that commits after the method, and until
 * then nobody else may see the old state. Loaded only where spring-tx is there.
 *
 * @param held the same in each call of one transaction: it is registered once
 */
public record TransactionEnd(HeldLeases.Entry held) implements TransactionSynchronization {

    /** Does nothing outside of a transaction. */
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

    /** On any thread: a transaction manager like JTA's may complete it on one of its own. */
    @Override
    public void afterCompletion(int status) {
        try {
            held.leave();
        } catch (LeaseLostException e) {
            // After a rollback nothing was done that was not protected. After a commit, or what may be one, Spring logs
            // it; nobody else would hear.
            if (status != STATUS_ROLLED_BACK) {
                throw e;
            }
        }
    }
}
