package io.holdfast.spring.call;

import io.holdfast.LockClient;
import io.holdfast.spring.LockedDefaults;
import io.holdfast.spring.declaration.Expressions;
import io.holdfast.spring.declaration.LazyBean;
import io.holdfast.spring.declaration.LeaderOperation;
import io.holdfast.spring.declaration.LockedOperation;
import io.holdfast.spring.declaration.Marks;
import io.holdfast.spring.declaration.OperationReader;
import io.micrometer.observation.ObservationRegistry;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.util.ClassUtils;
import reactor.core.scheduler.Schedulers;

/** Intercepts every marked method, and chooses the kind of call by its return type. A leader's call is outside. */
public final class LockedInterceptor implements MethodInterceptor {

    private static final System.Logger LOG = System.getLogger(LockedInterceptor.class.getName());

    private static final boolean REACTOR =
            ClassUtils.isPresent("reactor.core.scheduler.Schedulers", LockedInterceptor.class.getClassLoader());

    private final Set<String> onEventLoop = ConcurrentHashMap.newKeySet();
    private final OperationReader reader;
    private final Expressions expressions;
    private final ApplicationEventPublisher events;
    private final Clients clients;
    private final ContextLeaderships leaderships;
    private final CustomNames customNames;
    private final Supplier<ObservationRegistry> observations;
    private final OuterTransactions outer;

    public LockedInterceptor(
            OperationReader reader,
            Expressions expressions,
            ConfigurableListableBeanFactory beans,
            ApplicationEventPublisher events,
            Clients clients,
            ContextLeaderships leaderships) {
        this.reader = reader;
        this.expressions = expressions;
        this.events = events;
        this.clients = clients;
        this.leaderships = leaderships;
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
        LeaderOperation leader = reader.leader(invocation.getMethod(), targetClass);
        if (leader == null) {
            return lock(invocation, target, targetClass);
        }
        boolean locked = reader.isLocked(invocation.getMethod(), targetClass);
        return leaderships.call(
                leader, invocation, inner -> locked ? lock(inner, target, targetClass) : inner.proceed());
    }

    private @Nullable Object lock(MethodInvocation invocation, Object target, Class<?> targetClass) throws Throwable {
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
        LockClient client = clients.get(operation.client(), Marks.on(operation.method()));
        LockedCall call = new LockedCall(operation, invocation, names, client, events, observations.get(), outer);
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
}
