package io.holdfast.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/** What all dynamic proxies need. */
final class Calls {

    private Calls() {}

    static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(Calls.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    /** Calls the method of the target, and throws what that throws. */
    static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getTargetException();
        }
    }

    @SuppressWarnings("ReferenceEquality") // a proxy equals itself only
    static boolean isSame(Object proxy, Object @Nullable [] arguments) {
        return proxy == first(arguments);
    }

    static Object first(Object @Nullable [] arguments) {
        if (arguments == null) {
            throw new IllegalArgumentException("No argument (expected: one)");
        }
        return arguments[0];
    }
}
