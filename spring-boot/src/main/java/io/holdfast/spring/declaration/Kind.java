package io.holdfast.spring.declaration;

import io.holdfast.spring.Limited;
import io.holdfast.spring.Locked;

/** The kinds of things that a call holds while it runs, in the order in which one call acquires them. */
public enum Kind {
    LOCK(Locked.class, "lock"),
    PERMITS(Limited.class, "permits");

    /** Its mark on a method. */
    final Class<?> annotation;

    private final String tag;

    Kind(Class<?> annotation, String tag) {
        this.annotation = annotation;
        this.tag = tag;
    }

    /** Returns the tag in observations, as meters have it. */
    public String tag() {
        return tag;
    }

    /** Returns the word for one of them. */
    public String word() {
        return this == PERMITS ? "permit" : "lock";
    }

    /** Returns the annotation as it is written. */
    String mark() {
        return "@" + annotation.getSimpleName();
    }
}
