package io.holdfast.spring.declaration;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Reports a {@link io.holdfast.spring.Locked} that cannot work. Thrown at startup, before any call. */
public final class LockedDefinitionException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    private final String what;
    private final String wayOut;

    /** Reports the annotation of a method. */
    public LockedDefinitionException(Method method, String what, String wayOut) {
        this(describe(method), what, wayOut);
    }

    /** Reports a place that is not a method, for example a bean. */
    public LockedDefinitionException(String where, String what, String wayOut) {
        super("@Locked on " + where + ": " + what + " (expected: " + wayOut + ")");
        this.what = "@Locked on " + where + ": " + what + ".";
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
