package io.holdfast.cdi;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The attributes of an annotation, whichever it is. */
record Declared(
        Annotation annotation,
        String name,
        String key,
        String waitTime,
        String leaseTime,
        String holdAtMost,
        String holdAtLeast,
        OnBusy onBusy,
        String client,
        String permits,
        String weight) {

    /** Returns what the annotations of a method, or of a class, declare; also what annotations of those declare. */
    static List<Declared> on(AnnotatedElement element) {
        List<Declared> found = new ArrayList<>();
        collect(element, found, new HashSet<>());
        return found;
    }

    /** @param seen the types of annotations that were looked at: one may be annotated with itself */
    private static void collect(AnnotatedElement element, List<Declared> found, Set<Class<?>> seen) {
        for (Annotation each : element.getAnnotations()) {
            if (each instanceof Locked locked) {
                found.add(of(locked));
            } else if (each instanceof ScheduledLock scheduled) {
                found.add(of(scheduled));
            } else if (each instanceof Limited limited) {
                found.add(of(limited));
            } else if (each instanceof Idempotent idempotent) {
                found.add(of(idempotent));
            } else if (seen.add(each.annotationType())) {
                collect(each.annotationType(), found, seen);
            }
        }
    }

    private static Declared of(Locked from) {
        return new Declared(
                from,
                from.name().isEmpty() ? from.value() : from.name(),
                from.key(),
                from.waitTime(),
                from.leaseTime(),
                from.holdAtMost(),
                from.holdAtLeast(),
                from.onBusy(),
                from.client(),
                "",
                "");
    }

    private static Declared of(Limited from) {
        return new Declared(
                from,
                from.name().isEmpty() ? from.value() : from.name(),
                from.key(),
                from.waitTime(),
                from.leaseTime(),
                from.holdAtMost(),
                from.holdAtLeast(),
                from.onBusy(),
                from.client(),
                from.permits(),
                from.weight());
    }

    private static Declared of(Idempotent from) {
        return new Declared(
                from, from.name(), from.key(), from.waitTime(), "", "", "", OnBusy.THROW, from.client(), "", "");
    }

    private static Declared of(ScheduledLock from) {
        return new Declared(
                from,
                from.name(),
                from.key(),
                "0",
                "",
                from.atMost(),
                from.atLeast(),
                OnBusy.SKIP,
                from.client(),
                "",
                "");
    }

    boolean isLimit() {
        return annotation instanceof Limited;
    }

    /** Returns the annotation as it is written. */
    String mark() {
        return "@" + annotation.annotationType().getSimpleName();
    }
}
