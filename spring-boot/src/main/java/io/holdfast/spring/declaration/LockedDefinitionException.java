package io.holdfast.spring.declaration;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Reports a {@link io.holdfast.spring.Locked}, {@link io.holdfast.spring.Limited} or {@link io.holdfast.spring.Leader}
 * that cannot work. Thrown at startup, before any call.
 */
public final class LockedDefinitionException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    private final String what;
    private final String wayOut;

    /** Reports the annotation of a method. */
    public LockedDefinitionException(Method method, String what, String wayOut) {
        this(Marks.on(method), what, wayOut);
    }

    /** @param place the annotation and what it is on, as {@link Marks} says it */
    public LockedDefinitionException(String place, String what, String wayOut) {
        super(place + ": " + what + " (expected: " + wayOut + ")");
        this.what = place + ": " + what + ".";
        this.wayOut = wayOut;
    }

    public String what() {
        return what;
    }

    public String wayOut() {
        return wayOut;
    }

    /** Returns the method as messages show it: class, name and parameter types. */
    public static String describe(Method method) {
        String types = Arrays.stream(method.getParameterTypes())
                .map(Class::getSimpleName)
                .collect(Collectors.joining(", "));
        return method.getDeclaringClass().getName() + "." + method.getName() + "(" + types + ")";
    }
}
