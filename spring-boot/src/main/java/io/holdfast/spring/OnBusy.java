package io.holdfast.spring;

/** What a method does when others hold its lock for all of the wait time. Not for errors: those are always thrown. */
public enum OnBusy {

    /** Throws {@link io.holdfast.LockTimeoutException}. */
    THROW,

    /**
     * Returns without running: null, an empty {@code Optional}, a stage completed with null, an empty {@code Mono} or
     * {@code Flux}. Not for methods that return a primitive.
     */
    SKIP
}
