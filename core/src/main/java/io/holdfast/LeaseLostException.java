package io.holdfast;

/**
 * Thrown when a lease ended before it was released: the work under it may have overlapped with another holder's work.
 *
 * <pre>{@code
 * try (Lease lease = locks.acquire("order:42")) {
 *     orders.refund(42, lease.fencingToken());
 * } catch (LeaseLostException e) {
 *     alerts.send("Another process may have refunded order 42 at the same time: " + e.getMessage());
 * }
 * }</pre>
 *
 * <p>It is not an {@link IllegalMonitorStateException}, even when {@link DistributedLock#unlock()} throws it. The loss
 * is not a mistake of the thread, and a catch block that ignores such mistakes must not hide it.
 */
public final class LeaseLostException extends LockException {

    private static final long serialVersionUID = 1;

    /** Creates an exception; public so that tests can throw it. */
    public LeaseLostException(String message) {
        super(message, null);
    }
}
