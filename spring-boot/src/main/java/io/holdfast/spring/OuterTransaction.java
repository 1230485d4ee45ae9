package io.holdfast.spring;

/**
 * The reaction to a lock that is acquired inside a running transaction whose isolation is above READ COMMITTED. Its
 * reads come from a snapshot that may be older than the lock, and so miss what the last holder has committed.
 *
 * <pre>{@code
 * holdfast:
 *   outer-transaction: refuse
 * }</pre>
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/spring.md#order-of-the-advice">Order of the
 *     advice</a>
 */
public enum OuterTransaction {
    /** Logs a warning, once for each method. */
    WARN,
    /** Throws an {@link IllegalStateException} before the lock is acquired. */
    REFUSE,
    /** Nothing. */
    IGNORE
}
