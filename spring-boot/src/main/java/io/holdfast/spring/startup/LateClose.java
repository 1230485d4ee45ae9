package io.holdfast.spring.startup;

import io.holdfast.LockClient;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.DefaultSingletonBeanRegistry;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.PriorityOrdered;

/**
 * Closes the clients of a context after all its other beans were destroyed. Executors that wait for their tasks do so
 * when they are destroyed, and these tasks need their locks until then, and may need others.
 *
 * <p>A context destroys its beans in the reverse order of their registration as disposable, but the dependents of a
 * bean before it. So this class registers itself before any bean is made, depends on none, and takes away the destroy
 * method of each client, even an inferred {@code close()}.
 */
public final class LateClose implements BeanFactoryPostProcessor, MergedBeanDefinitionPostProcessor, PriorityOrdered {

    private static final String NAME = "io.holdfast.clients";

    private final Set<String> names = ConcurrentHashMap.newKeySet();
    private final ReentrantLock lock = new ReentrantLock();
    private final List<LockClient> clients = new ArrayList<>(); // by lock; in the order of their making
    private boolean ended; // by lock

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        if (beans instanceof DefaultSingletonBeanRegistry registry) {
            registry.registerDisposableBean(NAME, this::close);
        }
    }

    @Override
    public void postProcessMergedBeanDefinition(RootBeanDefinition definition, Class<?> type, String name) {
        if (type == LockClient.class && definition.isSingleton()) {
            definition.setDestroyMethodName("");
            names.add(name);
        }
    }

    @Override
    public void resetBeanDefinition(String name) {
        names.remove(name);
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        if (bean instanceof LockClient client && names.contains(name)) {
            add(client);
        }
        return bean;
    }

    /** Adds a client that is to be closed at the end. */
    public void add(LockClient client) {
        boolean late;
        lock.lock();
        try {
            late = ended;
            if (!late && !clients.contains(client)) {
                clients.add(client);
            }
        } finally {
            lock.unlock();
        }
        if (late) {
            client.close();
        }
    }

    private void close() {
        List<LockClient> all;
        lock.lock();
        try {
            ended = true;
            all = new ArrayList<>(clients);
            clients.clear();
        } finally {
            lock.unlock();
        }
        Collections.reverse(all);
        all.forEach(LockClient::close);
    }

    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }
}
