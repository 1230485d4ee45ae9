package io.holdfast.spring.declaration;

import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Permits;
import io.holdfast.spring.Idempotent;
import io.holdfast.spring.IdempotentRequest;
import io.holdfast.spring.Limited;
import io.holdfast.spring.Locked;

/** The kinds of things that a call holds while it runs. */
public enum Kind {
    LOCK(Locked.class, "lock", "", ""),
    READ(Locked.class, "read", "read-write locks", DistributedReadWriteLock.READ_PREFIX),
    WRITE(Locked.class, "write", "read-write locks", DistributedReadWriteLock.WRITE_PREFIX),
    PERMITS(Limited.class, "permits", "permits", Permits.SHOWN_PREFIX),
    /** The lock of work that is done once. */
    ONCE(Idempotent.class, "lock", "", ""),
    /** The same, for an HTTP request. */
    REQUEST(IdempotentRequest.class, "lock", "", "");

    final Class<?> annotation;
    private final String tag;
    private final String feature;
    private final String shown;

    Kind(Class<?> annotation, String tag, String feature, String shown) {
        this.annotation = annotation;
        this.tag = tag;
        this.feature = feature;
        this.shown = shown;
    }

    /** Returns whether the work under it is done once for each key, and its result stored. */
    public boolean isOnce() {
        return this == ONCE || this == REQUEST;
    }

    /** Returns whether an annotation of this kind may have several names. */
    boolean isExclusiveOrShared() {
        return annotation == Locked.class;
    }

    /** Returns the tag in observations, as meters have it. */
    public String tag() {
        return tag;
    }

    /** Returns the word for one of them. */
    public String word() {
        return this == PERMITS ? "permit" : "lock";
    }

    /** Returns what a method of this kind is, for people. */
    String adjective() {
        return this == PERMITS ? "limited" : isOnce() ? "idempotent" : "locked";
    }

    /** Returns the words for several of them, if there is no acquisition of several; empty for locks. */
    public String feature() {
        return feature;
    }

    /** Returns what stands before the name where listeners see it, and so meters. */
    public String shown() {
        return shown;
    }

    /** Returns the annotation as it is written. */
    String mark() {
        return "@" + annotation.getSimpleName();
    }
}
