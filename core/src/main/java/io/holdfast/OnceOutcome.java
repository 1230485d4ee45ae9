package io.holdfast;

/**
 * The end of a call whose work is done once for each key. {@code @Idempotent} of Spring and Jakarta CDI counts its calls
 * by their ends; a program with {@code JdbcOnce} passes them to {@code HoldfastMetrics} itself.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/idempotent.md#operation">Operation</a>
 */
public enum OnceOutcome {
    /** The work was done in this call. */
    DONE,
    /** The stored result was returned. */
    REPEATED,
    /** The key was used with another fingerprint. */
    CONFLICT,
    /** A call with the key ran for the whole wait time. */
    BUSY,
    /** The work or the database failed, and nothing stayed. */
    FAILED
}
