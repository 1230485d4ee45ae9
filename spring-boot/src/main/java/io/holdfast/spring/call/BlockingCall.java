package io.holdfast.spring.call;

import io.holdfast.LeaseLostException;
import io.holdfast.LockStoreException;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import io.holdfast.leader.Interrupts;
import io.holdfast.spring.OnLost;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A call whose work ends when it returns. The calling thread waits for the lock. */
final class BlockingCall {

    private final BlockingWork call;
    private final ObservedCall observed;

    BlockingCall(BlockingWork call) {
        this.call = call;
        this.observed = call.begin();
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
                // The call that acquired them has ended, and so has its transaction: only this call can report
                // the loss.
                failure = call.watchLosses(each.entry().leases()).outcome(failure, lost);
            } catch (RuntimeException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        return end(result, failure);
    }

    /** @param outer receives the entries of the thread that this call has entered, even if it throws */
    private @Nullable Object runIn(List<HeldLeases.Entered> outer) throws Throwable {
        List<String> missing = new ArrayList<>();
        for (String name : call.names()) {
            HeldLeases.Entered held = HeldLeases.enter(call.client(), call.wanted(), name);
            if (held == null) {
                missing.add(name);
            } else {
                outer.add(held);
                // A nested call must not begin under a lost lease.
                held.lease().ensureValid();
                awaitTransaction(held.entry());
            }
        }
        if (!outer.isEmpty()) {
            call.giveHeld(outer.stream().map(HeldLeases.Entered::lease).toList());
        }
        if (missing.isEmpty()) {
            return call.proceed();
        }
        MultiLease leases;
        try {
            call.checkOuterTransaction();
            leases = call.wanted()
                    .acquire(
                            call.client(),
                            missing,
                            call.options().releasedByThread().leftAtClose());
        } catch (LockTimeoutException e) {
            return call.alternative(e, observed);
        } catch (InterruptedException e) {
            observed.ended("interrupted", e);
            throw call.interrupted(e);
        } catch (LockStoreException e) {
            observed.ended("error", e);
            throw call.storeFailed(e);
        } catch (RuntimeException | Error e) {
            observed.ended("error", e);
            throw e;
        }
        try {
            // The wait may have been long.
            outer.forEach(held -> held.lease().ensureValid());
            observed.acquired();
            call.giveAcquired(leases, outer.isEmpty());
        } catch (Throwable e) {
            // The method does not run, so nothing else would release the leases.
            var unused = leases.releaseAsync();
            observed.ended(e instanceof LeaseLostException ? "lost" : "error", e);
            throw e;
        }
        return runUnder(leases);
    }

    private @Nullable Object runUnder(MultiLease leases) throws Throwable {
        Losses losses = call.watchLosses(leases);
        Interrupts interrupts = call.onLost() == OnLost.INTERRUPT ? new Interrupts() : null;
        if (interrupts != null) {
            leases.onLost(lease -> interrupts.interrupt());
        }
        HeldLeases.Entry held = HeldLeases.add(call.client(), call.wanted(), leases, call.holdAtLeast());
        awaitTransaction(held);
        Object result = null;
        Throwable failure = null;
        try {
            result = call.proceed();
            call.checkIsDone(result);
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
            observed.ended("lost", failure);
        }
        return end(result, failure);
    }

    private @Nullable Object end(@Nullable Object result, @Nullable Throwable failure) throws Throwable {
        observed.ended(failure);
        if (failure != null) {
            throw failure;
        }
        return result;
    }

    private static void awaitTransaction(HeldLeases.Entry held) {
        if (HeldLeases.TRANSACTIONS) {
            TransactionEnd.await(held);
        }
    }
}
