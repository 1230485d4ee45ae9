package io.holdfast.spring.call;

import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Looks at the leases of the thread as the last thing before a commit: a lost one makes the transaction roll back. Local, no
 * command. Between this look and the commit at the database remains a moment that only a fencing token closes.
 */
public final class CommitGuard implements TransactionExecutionListener {

    @Override
    public void beforeCommit(TransactionExecution transaction) {
        HeldLeases.ensureValid();
    }

    /** Puts the guard into every transaction manager of the context, however that was made. */
    public static final class Installer implements BeanPostProcessor {

        private final CommitGuard guard = new CommitGuard();

        @Override
        public Object postProcessAfterInitialization(Object bean, String beanName) {
            if (bean instanceof ConfigurableTransactionManager manager
                    && !manager.getTransactionExecutionListeners().contains(guard)) {
                List<TransactionExecutionListener> listeners =
                        new ArrayList<>(manager.getTransactionExecutionListeners());
                listeners.add(guard);
                manager.setTransactionExecutionListeners(listeners);
            }
            return bean;
        }
    }
}
