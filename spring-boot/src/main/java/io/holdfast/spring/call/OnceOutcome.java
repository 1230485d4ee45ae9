package io.holdfast.spring.call;

/** The ends of a call whose work is done once. */
public enum OnceOutcome {
    /** The method ran in this call. */
    DONE,
    /** The stored result was returned. */
    REPEATED,
    /** The key was used with another fingerprint. */
    CONFLICT,
    /** A call with the key ran for the whole wait time. */
    BUSY,
    /** The method or the database failed, and nothing stayed. */
    FAILED
}
