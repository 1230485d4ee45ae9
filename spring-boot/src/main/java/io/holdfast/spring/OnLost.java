package io.holdfast.spring;

/** What happens when the lease of a running method is lost. */
public enum OnLost {

    /**
     * When the method has ended, its result is dropped and {@link io.holdfast.LeaseLostException} is thrown. If it failed by
     * itself, the loss is added to its exception as a suppressed one.
     */
    THROW,

    /**
     * As {@link #THROW}, and the thread that runs the method is interrupted at the moment of the loss. Not for methods that
     * return a stage or a publisher.
     */
    INTERRUPT,

    /**
     * A {@link LeaseLostEvent} is published at the moment of the loss, and the method's result stands. A transaction that commits
     * under the lost lease is rolled back all the same, with {@link io.holdfast.LeaseLostException}.
     */
    EVENT
}
