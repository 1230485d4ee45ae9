package io.holdfast.spring.startup;

import io.holdfast.spring.Locked;
import io.holdfast.spring.call.LockedInterceptor;
import io.holdfast.spring.declaration.Expressions;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.spring.declaration.LockedNames;
import io.holdfast.spring.declaration.LockedOperation;
import io.holdfast.spring.declaration.OperationReader;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.target.EmptyTargetSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.InstantiationAwareBeanPostProcessor;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationEventPublisherAware;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.Ordered;
import org.springframework.util.ClassUtils;

/**
 * Puts the interceptor before every other advice of a bean with {@link Locked} methods, and refuses beans where that cannot be
 * done. A post-processor and not an advisor bean, because that
 *
 * <ul>
 *   <li>is outside of the transaction, whatever order that was given;
 *   <li>runs before the post-processors of {@code @Retryable} and {@code @Async}, which then are outside of it;
 *   <li>needs no auto-proxy creator and no aspectjweaver, without which advisors of users are left out in silence.
 * </ul>
 */
@SuppressWarnings("serial")
public final class LockedBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
        implements ApplicationEventPublisherAware, InstantiationAwareBeanPostProcessor, SmartInitializingSingleton {

    private final transient LockedNames names;
    private final transient MadeBeans made;
    private transient @Nullable ApplicationEventPublisher events;
    /** Own, since the one above is private in Spring Framework 6. */
    private transient @Nullable ConfigurableListableBeanFactory ownBeans;

    private transient @Nullable OperationReader reader;
    private transient @Nullable LockedInterceptor interceptor;

    public LockedBeanPostProcessor(LockedNames names, MadeBeans made) {
        this.names = names;
        this.made = made;
        setBeforeExistingAdvisors(true);
        setOrder(Ordered.LOWEST_PRECEDENCE - 2);
    }

    @Override
    public void setApplicationEventPublisher(ApplicationEventPublisher publisher) {
        this.events = publisher;
    }

    @Override
    public void setBeanFactory(BeanFactory factory) {
        boolean classes = isProxyTargetClass();
        super.setBeanFactory(factory);
        setProxyTargetClass(classes);
        ConfigurableListableBeanFactory beans = (ConfigurableListableBeanFactory) factory;
        this.ownBeans = beans;
        Expressions expressions = new Expressions(beans);
        OperationReader ownReader = new OperationReader(beans, expressions);
        LockedInterceptor own = new LockedInterceptor(
                ownReader, expressions, beans, event -> publisher().publishEvent(event));
        this.reader = ownReader;
        this.interceptor = own;
        this.advisor = new DefaultPointcutAdvisor(new MarkedMethods(ownReader), own);
    }

    /** Before the container calls any method of the bean. */
    @Override
    public boolean postProcessAfterInstantiation(Object bean, String beanName) {
        ConfigurableListableBeanFactory beans = java.util.Objects.requireNonNull(ownBeans);
        Class<?> type = AopUtils.getTargetClass(bean);
        if (isEligible(type)) {
            ContainerCalls.refuse(
                    type, beans.containsBeanDefinition(beanName) ? beans.getMergedBeanDefinition(beanName) : null);
        }
        return true;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof AopInfrastructureBean || advisor == null) {
            return bean;
        }
        // Under another name too, or in a parent context: a second lock around the first would wait for it.
        Advised known = isOfInterest(bean) ? Proxies.advisedBy(LockedInterceptor.class, bean) : null;
        Class<?> type = typeOf(known == null ? bean : known);
        checkIsSeen(bean, beanName, type);
        if (known != null) {
            checkGoesThrough(bean, known, beanName);
            return bean;
        }
        if (!isEligible(type)) {
            return bean;
        }
        Set<Method> methods = check(type);
        Object locked = lock(bean, beanName, type);
        checkIsLocked(locked, beanName);
        putInsideOfAsync((Advised) locked, beanName);
        if (AopUtils.isJdkDynamicProxy(locked)) {
            methods.forEach(method -> checkIsInInterface(method, type, locked));
        }
        return locked;
    }

    private Object lock(Object bean, String beanName, Class<?> type) {
        if (bean instanceof Advised proxy
                && proxy.getTargetSource() instanceof EmptyTargetSource
                && !proxy.isFrozen()) {
            proxy.addAdvisor(
                    0,
                    new DefaultPointcutAdvisor(
                            new MarkedMethods(java.util.Objects.requireNonNull(reader), type),
                            java.util.Objects.requireNonNull(interceptor)));
            return bean;
        }
        return super.postProcessAfterInitialization(bean, beanName);
    }

    /** Beans that were made before this post-processor was there would run unlocked; and all clients must be found. */
    @Override
    public void afterSingletonsInstantiated() {
        ConfigurableListableBeanFactory beans = java.util.Objects.requireNonNull(ownBeans);
        for (String name : beans.getBeanDefinitionNames()) {
            for (Object bean : made.objects(beans, name)) {
                if (!(bean instanceof AopInfrastructureBean) && isOfInterest(bean)) {
                    checkIsLocked(bean, name);
                    checkClients(typeOf(bean));
                    checkClients(AopProxyUtils.ultimateTargetClass(bean));
                }
            }
        }
        made.forget();
    }

    private void checkClients(Class<?> type) {
        if (isEligible(type)) {
            OperationReader known = java.util.Objects.requireNonNull(reader);
            LockedInterceptor clients = java.util.Objects.requireNonNull(interceptor);
            check(type).forEach(method -> clients.client(known.operation(method, type)));
        }
    }

    private boolean isOfInterest(Object bean) {
        return isEligible(typeOf(bean)) || isEligible(AopProxyUtils.ultimateTargetClass(bean));
    }

    /** Of a proxy that a library made of a marked interface that proxy, since its target, if it has one, need not know the interface. */
    private Class<?> typeOf(Object bean) {
        Class<?> target = AopUtils.getTargetClass(bean);
        return isEligible(target) ? target : bean.getClass();
    }

    /**
     * Calls come in by the proxy's methods, and are locked by what marks those in this class. A mark may be elsewhere: in
     * the class behind two proxies by interfaces, or in an interface that the class with the method does not implement.
     */
    private void checkIsSeen(Object bean, String beanName, Class<?> type) {
        Class<?> ultimate = AopProxyUtils.ultimateTargetClass(bean);
        for (Class<?> each : ClassUtils.getAllInterfacesForClassAsSet(bean.getClass())) {
            for (Class<?> other : List.of(each, ultimate, bean.getClass())) {
                if (other != type && isEligible(other)) {
                    checkIsSeen(each, other, type, beanName);
                }
            }
        }
    }

    private void checkIsSeen(Class<?> callable, Class<?> marked, Class<?> type, String beanName) {
        OperationReader known = java.util.Objects.requireNonNull(reader);
        for (Method method : callable.getMethods()) {
            if (!known.seesAll(method, type, marked)) {
                throw new LockedDefinitionException(
                        OperationReader.specific(method, marked),
                        "bean \"" + beanName + "\" is locked by what marks the methods of " + type.getName()
                                + ", and this is not there, so it would run without this lock",
                        "@Locked on the method of that class; or, if that class is a proxy,"
                                + " spring.aop.proxy-target-class=true or @EnableAsync without an order");
            }
        }
    }

    /** Calls of what another proxy has put around the locked one must go on to that. */
    private void checkGoesThrough(Object bean, Advised known, String beanName) {
        for (Class<?> each : ClassUtils.getAllInterfacesForClassAsSet(bean.getClass())) {
            if (isEligible(each) && !each.isInstance(known)) {
                throw new LockedDefinitionException(
                        "bean \"" + beanName + "\"",
                        "its proxy adds " + each.getName()
                                + " to a bean that is locked already and does not have it, so calls of that would run without a lock",
                        "@Locked on the methods of the bean itself, or two beans");
            }
        }
    }

    private Set<Method> check(Class<?> type) {
        OperationReader known = java.util.Objects.requireNonNull(reader);
        Map<Method, LockedOperation> operations =
                MethodIntrospector.selectMethods(type, (MethodIntrospector.MetadataLookup<@Nullable LockedOperation>)
                        method -> known.isMarked(method, type) ? known.operation(method, type) : null);
        operations.values().forEach(operation -> operation.names().forEach(name -> names.add(name.name())));
        return operations.keySet();
    }

    private static void checkIsLocked(Object bean, String beanName) {
        if (Proxies.advisedBy(LockedInterceptor.class, bean) == null) {
            throw new LockedDefinitionException(
                    "bean \"" + beanName + "\" ("
                            + AopUtils.getTargetClass(bean).getName() + ")",
                    "it has locked methods, but was made too early to be intercepted, or its proxy is frozen",
                    "a bean that no BeanPostProcessor and no @Bean method of a non-static configuration of one depends on");
        }
    }

    /**
     * With {@code @EnableAsync(order = …)} that may be there already: then the lock would be released when the task is handed to
     * its executor.
     */
    private static void putInsideOfAsync(Advised locked, String beanName) {
        if (Proxies.advisedBy(AsyncExecutionInterceptor.class, AopProxyUtils.getSingletonTarget(locked)) != null) {
            throw new LockedDefinitionException(
                    "bean \"" + beanName + "\"",
                    "the proxy of @Async is inside of another one, so the lock would be released when the task is handed to its executor",
                    "@EnableAsync without an order");
        }
        int last = Proxies.lastIndexOf(AsyncExecutionInterceptor.class, locked);
        int own = Proxies.lastIndexOf(LockedInterceptor.class, locked);
        if (last > own) {
            Advisor lock = locked.getAdvisors()[own];
            locked.removeAdvisor(lock);
            locked.addAdvisor(last, lock);
        }
    }

    private static void checkIsInInterface(Method method, Class<?> type, Object proxy) {
        for (Class<?> each : proxy.getClass().getInterfaces()) {
            for (Method declared : each.getMethods()) {
                if (OperationReader.specific(declared, type).equals(OperationReader.specific(method, type))) {
                    return;
                }
            }
        }
        throw new LockedDefinitionException(
                method,
                "the bean is proxied by its interfaces, and none of them has this method",
                "the method in an interface, or spring.aop.proxy-target-class=true");
    }

    private ApplicationEventPublisher publisher() {
        return java.util.Objects.requireNonNull(events);
    }
}
