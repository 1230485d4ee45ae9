package io.holdfast.spring.call;

import io.holdfast.LockClient;
import io.holdfast.spring.LockedDefaults;
import io.holdfast.spring.declaration.Expressions;
import io.holdfast.spring.declaration.Kind;
import io.holdfast.spring.declaration.LazyBean;
import io.holdfast.spring.declaration.LeaderOperation;
import io.holdfast.spring.declaration.LockedOperation;
import io.holdfast.spring.declaration.OperationReader;
import io.holdfast.spring.declaration.Returns;
import io.micrometer.observation.ObservationRegistry;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.List;
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
import org.springframework.expression.EvaluationContext;
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
    private final OnceCalls once;

    public LockedInterceptor(
            OperationReader reader,
            Expressions expressions,
            ConfigurableListableBeanFactory beans,
            ApplicationEventPublisher events,
            Clients clients,
            ContextLeaderships leaderships,
            OnceCalls once) {
        this.once = once;
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
            return hold(invocation, target, targetClass);
        }
        return leaderships.call(leader, invocation, inner -> hold(inner, target, targetClass));
    }

    /** Calls the method under all that it is to hold. */
    private @Nullable Object hold(MethodInvocation invocation, Object target, Class<?> targetClass) throws Throwable {
        List<LockedOperation> operations = reader.operations(invocation.getMethod(), targetClass);
        if (operations.stream().noneMatch(operation -> operation.kind() == Kind.REQUEST)) {
            return hold(operations, invocation, target, targetClass, null);
        }
        LockedOperation first = operations.get(0);
        return first.returns() == Returns.VALUE
                ? hold(operations, invocation, target, targetClass, ServletRequests.current())
                : ExchangeRequests.call(
                        invocation,
                        first.method(),
                        (copy, request) -> hold(operations, copy, target, targetClass, request));
    }

    private @Nullable Object hold(
            List<LockedOperation> operations,
            MethodInvocation invocation,
            Object target,
            Class<?> targetClass,
            @Nullable OnceRequest request)
            throws Throwable {
        LockedCall call = null;
        // From the innermost on. All names are known before anything is acquired.
        for (int i = operations.size() - 1; i >= 0; i--) {
            call = call(operations.get(i), invocation, target, targetClass, call, request);
        }
        if (call == null) {
            return invocation.proceed();
        }
        if (call.operation().returns() == Returns.VALUE) {
            warnOnEventLoop(call.operation());
        }
        return call.run(List.of());
    }

    /** Returns the inner call if no condition of the operation is true. */
    private @Nullable LockedCall call(
            LockedOperation operation,
            MethodInvocation invocation,
            Object target,
            Class<?> targetClass,
            @Nullable LockedCall inner,
            @Nullable OnceRequest request) {
        EvaluationContext context = operation.usesExpressions()
                ? expressions.context(target, targetClass, operation.method(), invocation.getArguments())
                : null;
        OnceRequest own = operation.kind() == Kind.REQUEST ? request : null;
        Collection<String> names = own != null
                ? List.of(own.name(operation.constantNames().get(0)))
                : operation.names(invocation.getArguments(), context);
        if (names.isEmpty()) {
            return inner;
        }
        names = names.stream().map(customNames).collect(Collectors.toCollection(TreeSet::new));
        LockClient client = clients.get(operation.client(), operation.place());
        LockedCall call = new LockedCall(
                operation,
                operation.wanted(context),
                invocation,
                names,
                client,
                events,
                observations.get(),
                outer,
                inner,
                once,
                context,
                own);
        call.wanted().checkNames(names);
        call.checkLeaseParameter();
        return call;
    }

    private void warnOnEventLoop(LockedOperation operation) {
        if (REACTOR && Schedulers.isInNonBlockingThread() && onEventLoop.add(operation.describe())) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    operation.place() + " waits for its " + operation.kind().word() + " on the thread "
                            + Thread.currentThread().getName()
                            + ", which must not block: all its other requests wait, too"
                            + " (expected: a method that returns a Mono, or subscribeOn(Schedulers.boundedElastic()))");
        }
    }
}
