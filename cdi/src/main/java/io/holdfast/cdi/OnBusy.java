package io.holdfast.cdi;

/**
 * The behavior of a method when others hold its lock for the whole wait time. Errors are always thrown.
 *
 * <pre>{@code
 * @Locked(name = "report", waitTime = "0", onBusy = OnBusy.SKIP)
 * public Optional<Report> makeReport() {      // empty if another caller makes it now
 *     return Optional.of(reports.make());
 * }
 * }</pre>
 */
public enum OnBusy {

    /** Throws {@link io.holdfast.LockTimeoutException}. */
    THROW,

    /**
     * Skips the method and returns null, an empty {@code Optional}, or a stage completed with null. Not for methods
     * that return a primitive.
     */
    SKIP
}
