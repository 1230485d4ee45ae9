package io.holdfast.spring.call;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import io.holdfast.spring.OnLost;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.spring.declaration.LockedOperation;
import io.holdfast.spring.declaration.Returns;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** A method whose work is over when it returns; the calling thread waits for the lock. */
public final class BlockingCall {

    private static final boolean TRANSACTIONS = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            BlockingCall.class.getClassLoader());

    private final LockedCall call;
    private final LockedOperation operation;
    private final CallWatch watch;

    BlockingCall(LockedCall call) {
        this.call = call;
        this.operation = call.operation();
        this.watch = call.begin();
    }

    @Nullable
    Object run() throws Throwable {
        List<HeldLeases.Entered> outer = new ArrayList<>();
        Object result = null;
        Throwable failure = null;
        try {
            result = runIn(outer);
        } catch (Throwable e) {
            failure = e;
        }
        for (HeldLeases.Entered each : outer) {
            try {
                each.entry().leave();
            } catch (LeaseLostException lost) {
                // The call that took them is over, and so is its transaction: nobody else would tell.
                failure = call.watchLosses(each.entry().leases()).outcome(failure, lost);
            } catch (RuntimeException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        // Also of a call that ran under the leases of another. Where more is known, it was ended before this.
        watch.ended(failure == null ? "completed" : failure instanceof LeaseLostException ? "lost" : "failed", failure);
        if (failure != null) {
            throw failure;
        }
        return result;
    }

    /** @param outer receives what was entered, also if this throws */
    private @Nullable Object runIn(List<HeldLeases.Entered> outer) throws Throwable {
        List<String> missing = new ArrayList<>();
        for (String name : call.names()) {
            HeldLeases.Entered held = HeldLeases.enter(call.client(), name);
            if (held == null) {
                missing.add(name);
            } else {
                outer.add(held);
                // A nested call must not begin under a lock that is lost.
                held.lease().ensureValid();
                awaitTransaction(held.entry());
            }
        }
        if (!outer.isEmpty()) {
            giveHeldLease(outer.get(outer.size() - 1).lease());
        }
        if (missing.isEmpty()) {
            return call.invocation().proceed();
        }
        MultiLease leases;
        try {
            leases = call.client().acquireAll(missing, operation.options());
        } catch (LockTimeoutException e) {
            return call.alternative(e, watch);
        } catch (InterruptedException e) {
            watch.ended("interrupted", e);
            throw interrupted(e);
        } catch (RuntimeException | Error e) {
            watch.ended("error", e);
            throw e;
        }
        try {
            // The wait may have been long.
            outer.forEach(held -> held.lease().ensureValid());
            watch.acquired();
            if (outer.isEmpty()) {
                call.giveLease(call.invocation(), leases);
            }
        } catch (Throwable e) {
            // The method does not run, so nobody would ever release them.
            var unused = leases.releaseAsync();
            watch.ended(e instanceof LeaseLostException ? "lost" : "error", e);
            throw e;
        }
        return runUnder(leases);
    }

    private @Nullable Object runUnder(MultiLease leases) throws Throwable {
        LockedCall.Losses losses = call.watchLosses(leases);
        InterruptOnLoss interrupts = operation.onLost() == OnLost.INTERRUPT ? new InterruptOnLoss(leases) : null;
        HeldLeases.Entry held = HeldLeases.add(call.client(), leases, () -> leases.release(operation.holdAtLeast()));
        awaitTransaction(held);
        Object result = null;
        Throwable failure = null;
        try {
            result = call.invocation().proceed();
            Returns.checkIsDone(operation.method(), result);
        } catch (Throwable e) {
            failure = e;
        }
        if (interrupts != null) {
            interrupts.close();
        }
        try {
            if (!held.leave()) {
                leases.ensureValid();
            }
        } catch (LeaseLostException lost) {
            failure = losses.outcome(failure, lost);
            watch.ended("lost", failure);
        }
        watch.ended(failure == null ? "completed" : "failed", failure);
        if (failure != null) {
            throw failure;
        }
        return result;
    }

    private static void awaitTransaction(HeldLeases.Entry held) {
        if (TRANSACTIONS) {
            TransactionEnd.await(held);
        }
    }

    private void giveHeldLease(Lease held) {
        int index = operation.leaseParameter();
        if (index < 0) {
            return;
        }
        if (operation.method().getParameterTypes()[index] == MultiLease.class) {
            throw new IllegalStateException("@Locked on " + LockedDefinitionException.describe(operation.method())
                    + ": a parameter of type MultiLease, but " + held.name()
                    + " is held by a caller already (expected: a parameter of type Lease, or none)");
        }
        call.invocation().getArguments()[index] = held;
    }

    private Throwable interrupted(InterruptedException e) {
        boolean declared = Arrays.stream(operation.method().getExceptionTypes())
                .anyMatch(type -> type.isAssignableFrom(InterruptedException.class));
        if (declared) {
            return e;
        }
        Thread.currentThread().interrupt();
        CancellationException cancelled =
                new CancellationException("Interrupted while waiting for the lock " + call.names());
        cancelled.initCause(e);
        return cancelled;
    }
}
