package io.holdfast.cdi;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.spi.Names;
import jakarta.interceptor.InvocationContext;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * A call whose work ends when it returns. The calling thread waits for the lock.
 *
 * @param options with the wait time that applies
 * @param inner what runs under the lock: the method, or another acquisition and the method
 */
record BlockingCall(
        LockedMethod method,
        LockClient client,
        LockOptions options,
        String name,
        InvocationContext call,
        Callable<@Nullable Object> inner) {

    @Nullable
    Object run() throws Exception {
        Held outer = Held.enter(client, method, name);
        if (outer != null) {
            return under(outer);
        }
        Lease lease;
        try {
            lease = method.acquire(client, name, options.releasedByThread());
        } catch (LockTimeoutException e) {
            if (method.onBusy() == OnBusy.SKIP) {
                return method.skipped();
            }
            throw e;
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        return under(Held.add(client, method, lease, method.holdAtLeast()));
    }

    private @Nullable Object under(Held held) throws Exception {
        Object result;
        try {
            // A nested call must not begin under a lost lease.
            held.lease().ensureValid();
            LockedMethods.give(call, method.leaseParameter(), held.lease());
            result = inner.call();
        } catch (Throwable e) {
            try {
                held.leave();
            } catch (LeaseLostException lost) {
                if (e != lost) {
                    e.addSuppressed(lost);
                }
            }
            throw e;
        }
        held.leave();
        return result;
    }

    /** Restores the flag of the thread for a caller that expects no checked exception. */
    private Exception interrupted(InterruptedException e) {
        if (method.declaresInterrupt()) {
            return e;
        }
        Thread.currentThread().interrupt();
        CancellationException cancelled =
                new CancellationException("Interrupted while waiting for the lock \"" + Names.printable(name) + '"');
        cancelled.initCause(e);
        return cancelled;
    }
}
