package io.holdfast.spring.declaration;

import io.holdfast.spring.Locked;
import java.lang.reflect.Method;

/** A {@link Locked} that cannot work, found at start-up. */
public final class LockedDefinitionException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    private final String what;
    private final String wayOut;

    public LockedDefinitionException(Method method, String what, String wayOut) {
        this(describe(method), what, wayOut);
    }

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

    public static String describe(Method method) {
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
