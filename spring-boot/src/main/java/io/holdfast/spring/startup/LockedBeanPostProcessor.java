package io.holdfast.spring.startup;

import io.holdfast.Permits;
import io.holdfast.spring.call.Clients;
import io.holdfast.spring.call.ContextLeaderships;
import io.holdfast.spring.call.LockedInterceptor;
import io.holdfast.spring.call.OnceCalls;
import io.holdfast.spring.declaration.Expressions;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.spring.declaration.LockedMethods;
import io.holdfast.spring.declaration.LockedNames;
import io.holdfast.spring.declaration.Marks;
import io.holdfast.spring.declaration.OperationReader;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.aop.target.EmptyTargetSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.InstantiationAwareBeanPostProcessor;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.core.KotlinDetector;
import org.springframework.core.Ordered;
import org.springframework.util.ClassUtils;

/**
 * Puts the interceptor before every other advice of a bean with {@link io.holdfast.spring.Locked}, {@link
 * io.holdfast.spring.Limited}, {@link io.holdfast.spring.Idempotent} or {@link io.holdfast.spring.Leader} methods.
 * Refuses a bean whose marked methods could run without the interceptor. It is a post-processor and not an advisor
 * bean, for three reasons:
 *
 * <ul>
 *   <li>the lock is outside the transaction, whatever the order of the transaction;
 *   <li>it runs before the post-processors of {@code @Retryable} and {@code @Async}, which then are outside the lock;
 *   <li>it needs neither an auto-proxy creator nor aspectjweaver, without which Spring silently ignores advisor beans.
 * </ul>
 */
@SuppressWarnings("serial")
public final class LockedBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
        implements InstantiationAwareBeanPostProcessor, SmartInitializingSingleton {

    private static final System.Logger LOG = System.getLogger(LockedBeanPostProcessor.class.getName());

    private final transient ConfigurableListableBeanFactory beans;
    private final transient UncheckedBeans unchecked;
    private final transient OperationReader reader;
    private final transient Declarations declarations;
    private final transient LockedInterceptor interceptor;
    private final boolean targetClasses;
    private final int order;

    /**
     * @param targetClasses whether proxies are subclasses; otherwise they implement the interfaces of the bean
     * @param order advice with a smaller order is outside the lock
     */
    public LockedBeanPostProcessor(
            ConfigurableListableBeanFactory beans,
            ApplicationEventPublisher events,
            boolean targetClasses,
            int order,
            LockedNames names,
            LockedMethods methods,
            UncheckedBeans unchecked,
            Clients clients,
            ContextLeaderships leaderships,
            OnceCalls once) {
        this.beans = beans;
        this.unchecked = unchecked;
        this.targetClasses = targetClasses;
        this.order = order;
        Expressions expressions = new Expressions(beans);
        this.reader = new OperationReader(beans, expressions);
        this.declarations = new Declarations(beans, reader, names, methods, clients, leaderships, once);
        this.interceptor = new LockedInterceptor(reader, expressions, beans, events, clients, leaderships, once);
        this.advisor = advisor(null);
        setBeforeExistingAdvisors(true);
        setOrder(Ordered.LOWEST_PRECEDENCE - 2);
    }

    @Override
    public void setBeanFactory(BeanFactory factory) {
        super.setBeanFactory(factory);
        // Spring Framework 7 has set its own default.
        setProxyTargetClass(targetClasses);
    }

    /**
     * Returns the advisor of the marked methods, valid or not: an invalid one must be refused instead of ignored.
     *
     * @param own the class whose annotations count; null: the class that Spring names. Without a target Spring names
     *     the interface that declares the method, which does not have the annotations of an interface that extends it.
     */
    private Advisor advisor(@Nullable Class<?> own) {
        return new DefaultPointcutAdvisor(
                new StaticMethodMatcherPointcut() {
                    @Override
                    public boolean matches(Method method, Class<?> targetClass) {
                        return reader.isMarked(method, own == null ? targetClass : own);
                    }
                },
                interceptor);
    }

    /** Checks the bean before the container calls any of its methods. */
    @Override
    public boolean postProcessAfterInstantiation(Object bean, String beanName) {
        Class<?> type = AopUtils.getTargetClass(bean);
        if (isEligible(type)) {
            ContainerCalls.refuse(
                    type, beans.containsBeanDefinition(beanName) ? beans.getMergedBeanDefinition(beanName) : null);
        }
        return true;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        unchecked.checked(bean, beanName);
        if (bean instanceof Permits permits) {
            declarations.add(permits, beanName);
        }
        if (bean instanceof AopInfrastructureBean) {
            return bean;
        }
        // A bean that has another name, or is in a parent context, may be locked already: a second lock would wait for
        // the first.
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
        List<Method> marked = declarations.read(type);
        Object locked = lock(bean, beanName, type);
        checkIsLocked(locked, beanName);
        putInOrder((Advised) locked);
        putInsideOfAsync((Advised) locked, beanName);
        if (AopUtils.isJdkDynamicProxy(locked)) {
            marked.forEach(method -> warnIfUnreachable(method, type, locked, beanName));
        }
        return locked;
    }

    private Object lock(Object bean, String beanName, Class<?> type) {
        if (bean instanceof Advised proxy
                && proxy.getTargetSource() instanceof EmptyTargetSource
                && !proxy.isFrozen()) {
            proxy.addAdvisor(0, advisor(type));
            return bean;
        }
        try {
            return super.postProcessAfterInitialization(bean, beanName);
        } catch (AopConfigException e) {
            if (!Modifier.isFinal(type.getModifiers())) {
                throw e;
            }
            LockedDefinitionException refused = new LockedDefinitionException(
                    Marks.on(type, "bean \"" + beanName + "\" (" + type.getName() + ")"),
                    "its class is final, so no proxy can intercept its methods",
                    KotlinDetector.isKotlinType(type)
                            ? OperationReader.OPEN_IN_KOTLIN
                            : "a class that is not final, or spring.aop.proxy-target-class=false");
            refused.initCause(e);
            throw refused;
        }
    }

    /** Refuses beans that were made before this post-processor: they would run unlocked. Then checks all declarations. */
    @Override
    public void afterSingletonsInstantiated() {
        unchecked.end((name, bean) -> {
            if (!(bean instanceof AopInfrastructureBean) && isOfInterest(bean)) {
                checkIsLocked(bean, name);
            }
        });
        declarations.check();
    }

    private boolean isOfInterest(Object bean) {
        return isEligible(typeOf(bean)) || isEligible(AopProxyUtils.ultimateTargetClass(bean));
    }

    /**
     * Returns the class whose annotations count: for a marked interface that a library's proxy implements, the proxy's
     * own.
     */
    private Class<?> typeOf(Object bean) {
        Class<?> target = AopUtils.getTargetClass(bean);
        return isEligible(target) ? target : bean.getClass();
    }

    /**
     * Refuses annotations that the proxy does not read. Calls come in by the proxy's methods and are locked by the
     * annotations of {@code type}. Others may be on the class behind two proxies by interfaces, or on an interface that
     * the class with the method does not implement.
     */
    private void checkIsSeen(Object bean, String beanName, Class<?> type) {
        Class<?> ultimate = AopProxyUtils.ultimateTargetClass(bean);
        for (Class<?> callable : ClassUtils.getAllInterfacesForClassAsSet(bean.getClass())) {
            for (Class<?> marked : List.of(callable, ultimate, bean.getClass())) {
                if (marked != type && isEligible(marked)) {
                    checkIsSeen(callable, marked, type, beanName);
                }
            }
        }
    }

    private void checkIsSeen(Class<?> callable, Class<?> marked, Class<?> type, String beanName) {
        for (Method method : callable.getMethods()) {
            if (!reader.seesAll(method, type, marked)) {
                throw new LockedDefinitionException(
                        OperationReader.specific(method, marked),
                        "the proxy of bean \"" + beanName + "\" has the annotations of " + type.getName()
                                + ", and this one is elsewhere, so the method would run "
                                + Marks.unguarded(OperationReader.specific(method, marked)),
                        "the annotation on the method of that class; or, if that class is a proxy,"
                                + " spring.aop.proxy-target-class=true or @EnableAsync without an order");
            }
        }
    }

    /** Refuses a marked interface that another proxy, around the locked one, answers itself. */
    private void checkGoesThrough(Object bean, Advised known, String beanName) {
        for (Class<?> each : ClassUtils.getAllInterfacesForClassAsSet(bean.getClass())) {
            if (isEligible(each) && !each.isInstance(known)) {
                throw new LockedDefinitionException(
                        Marks.on(each, "bean \"" + beanName + "\""),
                        "its proxy adds " + each.getName()
                                + " to a bean that is intercepted already and does not have it, so nothing would"
                                + " intercept its methods",
                        "the annotation on the methods of the bean itself, or two beans");
            }
        }
    }

    private static void checkIsLocked(Object bean, String beanName) {
        Class<?> type = AopUtils.getTargetClass(bean);
        if (Proxies.advisedBy(LockedInterceptor.class, bean) == null) {
            throw new LockedDefinitionException(
                    Marks.on(type, "bean \"" + beanName + "\" (" + type.getName() + ")"),
                    "it has marked methods, but was made too early to be intercepted, or its proxy is frozen",
                    "a bean that no BeanPostProcessor and no @Bean method of a non-static configuration of one"
                            + " depends on");
        }
    }

    /** Moves the lock inside the advice that comes before {@code holdfast.order}, such as authorization. */
    private void putInOrder(Advised locked) {
        int own = Proxies.lastIndexOf(LockedInterceptor.class, locked);
        Advisor[] all = locked.getAdvisors();
        int inner = own;
        for (int i = own + 1; i < all.length; i++) {
            if (all[i] instanceof Ordered ordered && ordered.getOrder() < order) {
                inner = i;
            }
        }
        if (inner > own) {
            locked.removeAdvisor(all[own]);
            locked.addAdvisor(inner, all[own]);
        }
    }

    /** Moves the lock inside {@code @Async}: outside, it would be released when the task is handed to its executor. */
    private static void putInsideOfAsync(Advised locked, String beanName) {
        if (Proxies.advisedBy(AsyncExecutionInterceptor.class, AopProxyUtils.getSingletonTarget(locked)) != null) {
            throw new LockedDefinitionException(
                    Marks.on(AopUtils.getTargetClass(locked), "bean \"" + beanName + "\""),
                    "the proxy of @Async is inside another one, so the lock or the leader's call would end when the"
                            + " task is handed to its executor",
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

    /** A warning suffices: no caller can reach the method, so none runs it unguarded. */
    private static void warnIfUnreachable(Method marked, Class<?> type, Object proxy, String beanName) {
        boolean reachable = Arrays.stream(proxy.getClass().getInterfaces())
                .flatMap(each -> Arrays.stream(each.getMethods()))
                .anyMatch(each -> OperationReader.specific(each, type).equals(marked));
        if (!reachable) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "{0} has no effect: the bean \"{1}\" is proxied by its interfaces, and none of them"
                            + " has this method"
                            + " (expected: the method in an interface, or spring.aop.proxy-target-class=true)",
                    Marks.on(marked),
                    beanName);
        }
    }
}
