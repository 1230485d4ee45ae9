package io.holdfast.spi;

import static java.util.Objects.requireNonNull;

/**
 * One thing that a store found out about itself, for people who set it up or look for a fault.
 *
 * <pre>{@code
 * return Finding.warning(
 *         "eviction",
 *         "The server may evict locks when its memory is full (maxmemory-policy allkeys-lru)",
 *         "Set maxmemory-policy to noeviction");
 * }</pre>
 *
 * @param severity how much it matters
 * @param subject what it is about, in a word or two, for example {@code eviction}
 * @param text what was found, as a sentence without a full stop; may contain texts of a server, which are not escaped
 * @param advice what to do about it, as a sentence without a full stop; empty if there is nothing to do
 */
public record Finding(Severity severity, String subject, String text, String advice) {

    /** The importance of a finding. */
    public enum Severity {
        /** All is well, or a fact that is worth knowing. */
        OK,
        /** Locks are slower, less fair, or less safe in a failure than they could be. */
        WARNING,
        /** Locks cannot be taken, or the store may break them in normal operation. */
        ERROR
    }

    /** Requires all parts. */
    public Finding {
        requireNonNull(severity, "severity");
        requireNonNull(subject, "subject");
        requireNonNull(text, "text");
        requireNonNull(advice, "advice");
    }

    /** Returns a finding that asks for nothing. */
    public static Finding ok(String subject, String text) {
        return new Finding(Severity.OK, subject, text, "");
    }

    /** Returns a finding on a weakness. */
    public static Finding warning(String subject, String text, String advice) {
        return new Finding(Severity.WARNING, subject, text, advice);
    }

    /** Returns a finding on a fault. */
    public static Finding error(String subject, String text, String advice) {
        return new Finding(Severity.ERROR, subject, text, advice);
    }
}
