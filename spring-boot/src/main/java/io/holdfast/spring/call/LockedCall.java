package io.holdfast.spring.call;

import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import io.holdfast.spi.Names;
import io.holdfast.spring.LeaseLostEvent;
import io.holdfast.spring.OnBusy;
import io.holdfast.spring.OnLost;
import io.holdfast.spring.declaration.LockedOperation;
import io.micrometer.observation.ObservationRegistry;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.context.ApplicationEventPublisher;

/**
 * One call of a locked method: the part that does not depend on its return type.
 *
 * @param names the lock names for its arguments; not empty
 */
record LockedCall(
        LockedOperation operation,
        MethodInvocation invocation,
        Collection<String> names,
        LockClient client,
        ApplicationEventPublisher events,
        ObservationRegistry observations) {

    /** Returns the object that the method is called on: the proxy, if a library made one without a target. */
    static Object target(MethodInvocation invocation) {
        Object target = invocation.getThis();
        return target != null ? target : ((ProxyMethodInvocation) invocation).getProxy();
    }

    /** Begins the observation. The caller must end it, whatever happens. */
    ObservedCall begin() {
        return new ObservedCall(observations, operation, names);
    }

    /** Returns an invocation that may proceed later, on another thread, or more than once. */
    MethodInvocation later() {
        return invocation instanceof ProxyMethodInvocation proxied
                ? proxied.invocableClone(invocation.getArguments().clone())
                : invocation;
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
            throw new IllegalArgumentException("@Locked on " + operation.describe() + ": " + names.size()
                    + " locks for a parameter of type Lease (expected: one, or a parameter of type MultiLease)");
        }
    }

    /** Returns the result of a call that found its lock busy: null or an empty Optional for a skipped method. */
    @Nullable
    Object alternative(LockTimeoutException busy, ObservedCall observed) throws Throwable {
        Method fallback = operation.fallback();
        if (fallback != null) {
            observed.ended("fallback", null);
            try {
                return fallback.invoke(
                        target(invocation),
                        fallback.getParameterCount() == 0 ? new Object[0] : invocation.getArguments());
            } catch (InvocationTargetException e) {
                throw e.getTargetException();
            }
        }
        if (operation.onBusy() == OnBusy.SKIP) {
            observed.ended("skipped", null);
            return operation.method().getReturnType() == Optional.class ? Optional.empty() : null;
        }
        observed.ended("timeout", busy);
        throw busy;
    }

    /** Restores the flag of the thread, and returns the exception for a method that does not declare the given one. */
    CancellationException cancelled(InterruptedException e) {
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

    /** Watches the leases, if a loss is to be published as an event. */
    Losses watchLosses(MultiLease leases) {
        Losses losses = new Losses(leases);
        if (operation.onLost() == OnLost.EVENT) {
            leases.onLost(lease -> losses.publish());
        }
        return losses;
    }

    /** Decides the outcome of a call whose lease was lost, and publishes at most one event. */
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

        /** Returns the exception for the caller: the method's own, the loss, or none. */
        @Nullable
        Throwable outcome(@Nullable Throwable failure, LeaseLostException lost) {
            if (operation.onLost() == OnLost.EVENT) {
                publish();
                return failure;
            }
            if (failure == null) {
                return lost;
            }
            // With INTERRUPT the failure is most likely a consequence of the loss.
            boolean consequence = operation.onLost() == OnLost.INTERRUPT;
            Throwable thrown = consequence ? lost : failure;
            thrown.addSuppressed(consequence ? failure : lost);
            return thrown;
        }
    }
}
