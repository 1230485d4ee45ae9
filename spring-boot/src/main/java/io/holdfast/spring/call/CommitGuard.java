package io.holdfast.spring.call;

import io.holdfast.leader.LeaderThreads;
import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Verifies the leases and terms of the thread immediately before a commit: a lost one rolls the transaction back. Costs
 * no command. Only a fencing token covers the moment between this check and the commit at the database. Adds itself to
 * every transaction manager of the context.
 */
public final class CommitGuard implements TransactionExecutionListener, BeanPostProcessor {

    @Override
    public void beforeCommit(TransactionExecution transaction) {
        HeldLeases.ensureValid();
        LeaderThreads.ensureValid();
        CommitBegun.mark();
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof ConfigurableTransactionManager manager
                && !manager.getTransactionExecutionListeners().contains(this)) {
            List<TransactionExecutionListener> listeners = new ArrayList<>(manager.getTransactionExecutionListeners());
            listeners.add(this);
            manager.setTransactionExecutionListeners(listeners);
        }
        return bean;
    }
}
