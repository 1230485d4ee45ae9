package io.holdfast.spring;

/**
 * The behavior when the lease of a running method is lost.
 *
 * <pre>{@code
 * @Locked(name = "export", key = "#orderId", onLost = OnLost.INTERRUPT)
 * public void export(long orderId) throws IOException, InterruptedException {
 *     http.send(request(orderId), BodyHandlers.discarding());      // is interrupted when the lease is lost
 * }
 * }</pre>
 */
public enum OnLost {

    /**
     * Drops the result and throws {@link io.holdfast.LeaseLostException} when the method has ended. If the method
     * itself failed, its exception is thrown and the loss is added to it as suppressed.
     */
    THROW,

    /**
     * Interrupts the thread that runs the method at the moment of the loss. Drops the result and throws {@link
     * io.holdfast.LeaseLostException} when the method has ended; an exception of the method is suppressed in it,
     * because it is most likely a consequence of the interrupt. Not for methods that return a stage or a publisher.
     */
    INTERRUPT,

    /**
     * Publishes a {@link LeaseLostEvent} at the moment of the loss, and the method's result stands. A transaction that
     * is to commit under the lost lease still rolls back, with {@link io.holdfast.LeaseLostException}.
     */
    EVENT
}
