package io.holdfast.spring.call;

import io.holdfast.LockClient;
import io.holdfast.spring.LockedDefaults;
import io.holdfast.spring.declaration.Expressions;
import io.holdfast.spring.declaration.LazyBean;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.spring.declaration.LockedOperation;
import io.holdfast.spring.declaration.OperationReader;
import io.micrometer.observation.ObservationRegistry;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;
import reactor.core.scheduler.Schedulers;

/** Intercepts every locked method, and chooses the kind of call by its return type. */
public final class LockedInterceptor implements MethodInterceptor {

    private static final System.Logger LOG = System.getLogger(LockedInterceptor.class.getName());

    private static final boolean REACTOR =
            ClassUtils.isPresent("reactor.core.scheduler.Schedulers", LockedInterceptor.class.getClassLoader());

    private final Set<String> onEventLoop = ConcurrentHashMap.newKeySet();
    private final OperationReader reader;
    private final Expressions expressions;
    private final ConfigurableListableBeanFactory beans;
    private final ApplicationEventPublisher events;
    private final Map<String, LockClient> clients = new ConcurrentHashMap<>();
    private final CustomNames customNames;
    private final Supplier<ObservationRegistry> observations;
    private final OuterTransactions outer;

    public LockedInterceptor(
            OperationReader reader,
            Expressions expressions,
            ConfigurableListableBeanFactory beans,
            ApplicationEventPublisher events) {
        this.reader = reader;
        this.expressions = expressions;
        this.beans = beans;
        this.events = events;
        this.customNames = new CustomNames(beans);
        this.outer = new OuterTransactions(new LazyBean<>(
                () -> beans.getBeanProvider(LockedDefaults.class).getIfAvailable(LockedDefaults::standard)));
        this.observations = new LazyBean<>(
                () -> beans.getBeanProvider(ObservationRegistry.class).getIfUnique(() -> ObservationRegistry.NOOP));
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = LockedCall.target(invocation);
        Class<?> targetClass =
                Proxy.isProxyClass(target.getClass()) ? target.getClass() : AopUtils.getTargetClass(target);
        LockedOperation operation = reader.operation(invocation.getMethod(), targetClass);
        Collection<String> names = operation.names(
                invocation.getArguments(),
                operation.usesExpressions()
                        ? expressions.context(target, targetClass, operation.method(), invocation.getArguments())
                        : null);
        if (names.isEmpty()) {
            // No condition is true.
            return invocation.proceed();
        }
        names = names.stream().map(customNames).collect(Collectors.toCollection(TreeSet::new));
        LockedCall call =
                new LockedCall(operation, invocation, names, client(operation), events, observations.get(), outer);
        call.checkLeaseParameter();
        return switch (operation.returns()) {
            case VALUE -> {
                warnOnEventLoop(operation);
                yield new BlockingCall(call).run();
            }
            case STAGE -> new StageCall(call).run();
            // Spring calls a suspending function as a Mono, and suspends the caller until the Mono of its proxy ends.
            case MONO, SUSPENDED -> new ReactiveCall(call).mono();
            case FLUX -> new ReactiveCall(call).flux();
        };
    }

    private void warnOnEventLoop(LockedOperation operation) {
        if (REACTOR && Schedulers.isInNonBlockingThread() && onEventLoop.add(operation.describe())) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "@Locked on " + operation.describe() + " waits for its lock on the thread "
                            + Thread.currentThread().getName()
                            + ", which must not block: all its other requests wait, too"
                            + " (expected: a method that returns a Mono, or subscribeOn(Schedulers.boundedElastic()))");
        }
    }

    /**
     * Returns the client of a method.
     *
     * @throws LockedDefinitionException if there is no such client
     */
    public LockClient client(LockedOperation operation) {
        LockClient known = clients.get(operation.client());
        if (known == null) {
            // Not computeIfAbsent: nothing of ours may be locked while Spring looks a bean up.
            known = find(operation.client(), operation.method());
            clients.put(operation.client(), known);
        }
        return known;
    }

    private LockClient find(String name, Method method) {
        // Including those of a parent context.
        String[] known = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, LockClient.class, true, false);
        if (known.length == 0) {
            throw new LockedDefinitionException(
                    method,
                    "there is no LockClient bean",
                    "holdfast.enabled not false, and spring.data.redis.*, holdfast.store or a LockClient of your own");
        }
        try {
            return StringUtils.hasText(name)
                    ? BeanFactoryAnnotationUtils.qualifiedBeanOfType(beans, LockClient.class, name)
                    : beans.getBean(LockClient.class);
        } catch (org.springframework.beans.factory.NoSuchBeanDefinitionException e) {
            throw new LockedDefinitionException(
                    method,
                    name.isEmpty()
                            ? "there are several LockClient beans and none is primary"
                            : "there is no LockClient with the name or qualifier \"" + name + "\"",
                    "client = one of " + String.join(", ", known));
        }
    }
}
