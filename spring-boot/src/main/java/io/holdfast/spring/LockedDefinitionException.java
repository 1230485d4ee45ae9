package io.holdfast.spring;

import java.lang.reflect.Method;

/** A {@link Locked} that cannot work, found at start-up. */
final class LockedDefinitionException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    private final String what;
    private final String wayOut;

    LockedDefinitionException(Method method, String what, String wayOut) {
        this(describe(method), what, wayOut);
    }

    LockedDefinitionException(String where, String what, String wayOut) {
        super("@Locked on " + where + ": " + what + " (expected: " + wayOut + ")");
        this.what = "@Locked on " + where + ": " + what + ".";
        this.wayOut = wayOut;
    }

    String what() {
        return what;
    }

    String wayOut() {
        return wayOut;
    }

    static String describe(Method method) {
        StringBuilder text = new StringBuilder(method.getDeclaringClass().getName())
                .append('.')
                .append(method.getName())
                .append('(');
        Class<?>[] types = method.getParameterTypes();
        for (int i = 0; i < types.length; i++) {
            text.append(i == 0 ? "" : ", ").append(types[i].getSimpleName());
        }
        return text.append(')').toString();
    }
}
