package io.holdfast.spring.call;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Marks the transaction of the thread as one whose commit has begun. Spring still shows it as active to the callbacks
 * after the commit, and what joins it there is never committed. Loaded only where spring-tx is present.
 */
enum CommitBegun implements TransactionSynchronization {
    MARK;

    /** Marks the transaction that the thread is about to commit. */
    static void mark() {
        if (TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(MARK);
        }
    }

    /** Returns whether the thread is in a transaction that commits what joins it. */
    static boolean isBefore() {
        // The callbacks after the completion see no synchronizations.
        return TransactionSynchronizationManager.isActualTransactionActive()
                && TransactionSynchronizationManager.isSynchronizationActive()
                && !TransactionSynchronizationManager.getSynchronizations().contains(MARK);
    }
}
