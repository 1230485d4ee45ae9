package io.holdfast.spring.call;

import io.holdfast.Lease;
import io.holdfast.jdbc.JdbcGuard;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Makes every transaction of a data source that a locked method surrounds begin with the check of {@link JdbcGuard}.
 *
 * <p>The connections do that, not the transaction manager. A listener of a transaction manager that throws after the
 * begin leaves the transaction open on its thread, and one that only marks it lets the method run; and the statements
 * of every library pass through a connection. The proxy of a data source has the type of the data source where that can
 * be extended.
 */
public final class DataSourceGuard implements BeanPostProcessor, SmartInitializingSingleton {

    private final Supplier<JdbcGuard> guard;
    private final ListableBeanFactory beans;
    private final Set<String> guarded = ConcurrentHashMap.newKeySet();

    /** @param guard asked for with the first data source, so that it is not made too early for other processors */
    public DataSourceGuard(Supplier<JdbcGuard> guard, ListableBeanFactory beans) {
        this.guard = guard;
        this.beans = beans;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!(bean instanceof DataSource target)) {
            return bean;
        }
        guarded.add(beanName);
        DataSource connections = guard.get().guarded(target, DataSourceGuard::leases);
        ProxyFactory proxy = new ProxyFactory(target);
        proxy.setProxyTargetClass(!Modifier.isFinal(target.getClass().getModifiers()));
        proxy.addAdvice((MethodInterceptor) call -> {
            Object[] arguments = call.getArguments();
            if (!call.getMethod().getName().equals("getConnection")) {
                return call.proceed();
            }
            return arguments.length == 0
                    ? connections.getConnection()
                    : connections.getConnection((String) arguments[0], (String) arguments[1]);
        });
        return proxy.getProxy(target.getClass().getClassLoader());
    }

    private static List<Lease> leases() {
        // Not every driver and pool passes the mark on to the connection.
        boolean readOnly = HeldLeases.TRANSACTIONS && TransactionSynchronizationManager.isCurrentTransactionReadOnly();
        return readOnly ? List.of() : HeldLeases.exclusive();
    }

    /**
     * Refuses the start if nothing is guarded, or a data source was made before this processor.
     *
     * @throws IllegalArgumentException if so
     */
    @Override
    public void afterSingletonsInstantiated() {
        List<String> all = new ArrayList<>(Arrays.asList(beans.getBeanNamesForType(DataSource.class, true, false)));
        if (all.isEmpty()) {
            throw new IllegalArgumentException("holdfast.guard.enabled: there is no DataSource bean"
                    + " (expected: one, or holdfast.guard.enabled=false)");
        }
        // Those that were made; a lazy one is guarded when it is made. A factory bean makes its product only
        // when asked.
        all.removeIf(name -> !(beans instanceof SingletonBeanRegistry made) || !made.containsSingleton(name));
        all.forEach(beans::getBean);
        all.removeAll(guarded);
        if (!all.isEmpty()) {
            throw new IllegalArgumentException("holdfast.guard.enabled: the DataSource " + String.join(", ", all)
                    + " was made too early to be guarded (expected: no BeanPostProcessor that depends on it)");
        }
    }
}
