package io.holdfast.spring.call;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import io.holdfast.OnceOutcome;
import io.holdfast.spi.Names;
import io.holdfast.spring.LeaseLostEvent;
import io.holdfast.spring.OnBusy;
import io.holdfast.spring.OnLost;
import io.holdfast.spring.declaration.BusyAnswer;
import io.holdfast.spring.declaration.Kind;
import io.holdfast.spring.declaration.LockedOperation;
import io.holdfast.spring.declaration.Returns;
import io.holdfast.spring.declaration.Wanted;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.stream.Collectors;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.expression.EvaluationContext;

/**
 * One call of a locked method: the part that does not depend on its return type.
 *
 * @param wanted what the call wants of the names
 * @param names the names for its arguments; not empty
 * @param inner what this call holds besides, acquired after the names; null: the method is inside
 * @param context for expressions; null if the operation has none
 * @param request what the operation does once; null: it is not for requests
 */
record LockedCall(
        LockedOperation operation,
        Wanted wanted,
        MethodInvocation invocation,
        Collection<String> names,
        LockClient client,
        ApplicationEventPublisher events,
        ObservationRegistry observations,
        OuterTransactions outer,
        @Nullable LockedCall inner,
        OnceCalls once,
        @Nullable EvaluationContext context,
        @Nullable OnceRequest request)
        implements BlockingWork {

    /**
     * Acquires, calls what is inside, and releases.
     *
     * @param around what calls of the same method hold around this one; only those for a stage are not elsewhere
     */
    @Nullable
    Object run(List<StageCall.Holding> around) throws Throwable {
        return switch (operation.returns()) {
            case VALUE -> new BlockingCall(this).run();
            case STAGE -> new StageCall(this, around).run();
            // Spring calls a suspending function as a Mono, and suspends the caller until the Mono of its proxy ends.
            case MONO, SUSPENDED -> new ReactiveCall(this).mono();
            case FLUX -> new ReactiveCall(this).flux();
        };
    }

    private LockedCall with(MethodInvocation other) {
        return new LockedCall(
                operation, wanted, other, names, client, events, observations, outer, inner, once, context, request);
    }

    /** Returns the object that the method is called on: the proxy, if a library made one without a target. */
    static Object target(MethodInvocation invocation) {
        Object target = invocation.getThis();
        return target != null ? target : ((ProxyMethodInvocation) invocation).getProxy();
    }

    @Override
    public LockOptions options() {
        return operation.options();
    }

    @Override
    public Duration holdAtLeast() {
        return operation.holdAtLeast();
    }

    @Override
    public OnLost onLost() {
        return operation.onLost();
    }

    @Override
    public ObservedCall begin() {
        return new ObservedCall(observations, wanted.kind(), String.join("+", operation.constantNames()), names);
    }

    @Override
    public @Nullable Object proceed() throws Throwable {
        return proceed(invocation, List.of());
    }

    /** @param around as for {@link #run} */
    @Nullable
    Object proceed(MethodInvocation to, List<StageCall.Holding> around) throws Throwable {
        if (operation.kind().isOnce() && operation.returns() == Returns.VALUE) {
            return once.work(operation)
                    .run(names.iterator().next(), with(to), context, () -> proceedInside(to, around));
        }
        return proceedInside(to, around);
    }

    private @Nullable Object proceedInside(MethodInvocation to, List<StageCall.Holding> around) throws Throwable {
        return inner == null ? to.proceed() : inner.with(to).run(around);
    }

    @Override
    public void checkIsDone(@Nullable Object result) {
        Returns.checkIsDone(operation.method(), result);
    }

    /** Returns this call with an invocation of its own, for one of several runs. */
    LockedCall copy() {
        return with(later());
    }

    MethodInvocation later() {
        return later(invocation);
    }

    /** Returns an invocation that may proceed later, on another thread, or more than once. */
    static MethodInvocation later(MethodInvocation invocation) {
        return invocation instanceof ProxyMethodInvocation proxied
                ? proxied.invocableClone(invocation.getArguments().clone())
                : invocation;
    }

    @Override
    public void giveHeld(List<Lease> held) {
        Lease innermost = held.get(held.size() - 1);
        if (wantsAll()) {
            throw new IllegalStateException(
                    operation.place() + ": a parameter of type MultiLease, but a caller holds the lock "
                            + quoted(innermost.name()) + " already (expected: a parameter of type Lease, or none)");
        }
        if (operation.leaseParameter() >= 0) {
            invocation.getArguments()[operation.leaseParameter()] = innermost;
        }
    }

    @Override
    public void checkOuterTransaction() {
        if (wanted.kind() != Kind.PERMITS) {
            outer.check(operation.place(), operation.method(), AopUtils.getTargetClass(target(invocation)));
        }
    }

    @Override
    public void giveAcquired(MultiLease leases, boolean isAll) {
        if (isAll) {
            giveLease(invocation, leases);
        }
    }

    void giveLease(MethodInvocation to, MultiLease leases) {
        if (operation.leaseParameter() >= 0) {
            to.getArguments()[operation.leaseParameter()] =
                    wantsAll() ? leases : leases.leases().get(0);
        }
    }

    /** Returns whether the method has a parameter of type MultiLease. */
    boolean wantsAll() {
        int index = operation.leaseParameter();
        return index >= 0 && operation.method().getParameterTypes()[index] == MultiLease.class;
    }

    /** Refuses several names for one lease before anything is acquired. A collection as key can give them. */
    void checkLeaseParameter() {
        if (operation.leaseParameter() >= 0 && names.size() > 1 && !wantsAll()) {
            throw new IllegalArgumentException(operation.place() + ": " + names.size()
                    + " locks for a parameter of type Lease (expected: one, or a parameter of type MultiLease)");
        }
    }

    /** Returns the result of a call that found its lock busy: null or an empty Optional for a skipped method. */
    @Override
    public @Nullable Object alternative(LockTimeoutException busy, ObservedCall observed) throws Throwable {
        BusyAnswer answer = operation.busyAnswer();
        if (answer != null) {
            observed.ended("fallback", null);
            return answer.answer(target(invocation), invocation.getArguments(), busy);
        }
        if (operation.onBusy() == OnBusy.SKIP) {
            observed.ended("skipped", null);
            return operation.resultType() == Optional.class ? Optional.empty() : null;
        }
        observed.ended("timeout", busy);
        if (operation.kind().isOnce()) {
            once.ended(names.iterator().next(), OnceOutcome.BUSY);
        }
        if (operation.kind() == Kind.REQUEST) {
            throw OnceAnswer.running(busy);
        }
        if (operation.isScheduled()) {
            // The scheduler logs it at each firing that finds the lock busy, and only it is in the stack.
            busy.setStackTrace(new StackTraceElement[0]);
        }
        throw busy;
    }

    /** The scheduler logs it at each firing of an outage, with its causes. */
    @Override
    public LockStoreException storeFailed(LockStoreException e) {
        if (!operation.isScheduled()) {
            return e;
        }
        LockStoreException brief = new LockStoreException(String.valueOf(e.getMessage()), e.store(), null);
        brief.setStackTrace(new StackTraceElement[0]);
        return brief;
    }

    @Override
    public Exception interrupted(InterruptedException e) {
        boolean declared = Arrays.stream(operation.method().getExceptionTypes())
                .anyMatch(type -> type.isAssignableFrom(InterruptedException.class));
        return declared ? e : cancelled(names, e);
    }

    /** Restores the flag of the thread, and returns the exception for a caller that expects no checked one. */
    static CancellationException cancelled(Collection<String> names, InterruptedException e) {
        Thread.currentThread().interrupt();
        CancellationException cancelled = new CancellationException(
                "Interrupted while waiting for " + (names.size() == 1 ? "the lock " : "the locks ")
                        + names.stream().map(LockedCall::quoted).collect(Collectors.joining(", ")));
        cancelled.initCause(e);
        return cancelled;
    }

    static String quoted(String name) {
        return '"' + Names.printable(name) + '"';
    }

    @Override
    public Losses watchLosses(MultiLease leases) {
        return new Losses(
                leases,
                operation.onLost(),
                lease -> events.publishEvent(
                        new LeaseLostEvent(lease.name(), lease.fencingToken(), operation.method())));
    }
}
