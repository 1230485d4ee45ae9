package io.holdfast.spring;

import java.util.function.Consumer;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The transaction that the caller of a locked method has already. Loaded only where spring-tx is there. */
final class TransactionEnd {

    private TransactionEnd() {}

    static boolean isAwaited() {
        return TransactionSynchronizationManager.isActualTransactionActive()
                && TransactionSynchronizationManager.isSynchronizationActive();
    }

    /** Runs the action when it has been committed (then with true) or rolled back, on the thread of it. */
    static void await(Consumer<Boolean> action) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCompletion(int status) {
                action.accept(status == STATUS_COMMITTED);
            }
        });
    }
}
