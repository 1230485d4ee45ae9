package io.holdfast.spring.call;

import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import io.holdfast.spring.LeaseLostEvent;
import io.holdfast.spring.OnBusy;
import io.holdfast.spring.OnLost;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.spring.declaration.LockedOperation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicBoolean;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.context.ApplicationEventPublisher;

/**
 * One call of a locked method: what the ways to run it have in common.
 *
 * @param names the lock names for its arguments; not empty
 */
public record LockedCall(
        LockedOperation operation,
        MethodInvocation invocation,
        Collection<String> names,
        LockClient client,
        ApplicationEventPublisher events,
        CallWatch.Source watches) {

    /** What the method is called on. Some proxies that a library made have no object behind them: then themselves. */
    static Object target(MethodInvocation invocation) {
        Object target = invocation.getThis();
        return target != null ? target : ((ProxyMethodInvocation) invocation).getProxy();
    }

    /** Begins to look on. Whoever does this ends it, whatever happens. */
    CallWatch begin() {
        return watches.begin(operation, names);
    }

    /** The invocation to proceed with, for one that is begun later, on another thread, or more than once. */
    MethodInvocation later() {
        return invocation instanceof ProxyMethodInvocation proxied
                ? proxied.invocableClone(invocation.getArguments().clone())
                : invocation;
    }

    void giveLease(MethodInvocation to, MultiLease leases) {
        int index = operation.leaseParameter();
        if (index >= 0) {
            boolean all = operation.method().getParameterTypes()[index] == MultiLease.class;
            to.getArguments()[index] = all ? leases : leases.leases().get(0);
        }
    }

    /** Before anything is taken: a collection as key can give several names where the method wants one lease. */
    void checkLeaseParameter() {
        int index = operation.leaseParameter();
        if (index >= 0 && names.size() > 1 && operation.method().getParameterTypes()[index] != MultiLease.class) {
            throw new IllegalArgumentException("@Locked on "
                    + LockedDefinitionException.describe(operation.method()) + ": " + names.size()
                    + " locks for a parameter of type Lease (expected: one, or a parameter of type MultiLease)");
        }
    }

    boolean hasAlternative() {
        return operation.onBusy() == OnBusy.SKIP || operation.fallback() != null;
    }

    /** What is returned instead when others hold the lock. */
    @Nullable
    Object alternative(LockTimeoutException busy, CallWatch watch) throws Throwable {
        Method fallback = operation.fallback();
        if (fallback != null) {
            watch.ended("fallback", null);
            try {
                return fallback.invoke(
                        target(invocation),
                        fallback.getParameterCount() == 0 ? new Object[0] : invocation.getArguments());
            } catch (InvocationTargetException e) {
                throw e.getTargetException();
            }
        }
        if (operation.onBusy() == OnBusy.SKIP) {
            watch.ended("skipped", null);
            return operation.returns().nothing(operation.method());
        }
        watch.ended("timeout", busy);
        throw busy;
    }

    /** Tells of a loss by an event, if that is wanted; at most once for each lease. */
    Losses watchLosses(MultiLease leases) {
        Losses losses = new Losses(leases);
        if (operation.onLost() == OnLost.EVENT) {
            leases.onLost(lease -> losses.publish());
        }
        return losses;
    }

    /** What becomes of a loss that shows at the release. */
    final class Losses {

        private final MultiLease leases;
        private final AtomicBoolean published = new AtomicBoolean();

        private Losses(MultiLease leases) {
            this.leases = leases;
        }

        private void publish() {
            if (published.compareAndSet(false, true)) {
                leases.leases().stream()
                        .filter(lease -> !lease.isValid())
                        .findFirst()
                        .ifPresent(lease -> events.publishEvent(
                                new LeaseLostEvent(lease.name(), lease.fencingToken(), operation.method())));
            }
        }

        /** What the caller shall get: the failure that is there, the loss, or nothing. */
        @Nullable
        Throwable outcome(@Nullable Throwable failure, LeaseLostException lost) {
            if (operation.onLost() == OnLost.EVENT) {
                publish();
                return failure;
            }
            if (failure == null) {
                return lost;
            }
            if (operation.onLost() == OnLost.INTERRUPT) {
                // The failure is most likely what the interrupt brought about.
                lost.addSuppressed(failure);
                return lost;
            }
            failure.addSuppressed(lost);
            return failure;
        }
    }
}
