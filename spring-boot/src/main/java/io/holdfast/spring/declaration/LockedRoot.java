package io.holdfast.spring.declaration;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * The value of {@code #root} in expressions, as in {@code @Cacheable}. Expressions call the public members by
 * reflection.
 */
public final class LockedRoot {

    private final Method method;
    private final @Nullable Object[] args;
    private final Object target;
    private final Class<?> targetClass;

    LockedRoot(Method method, @Nullable Object[] args, Object target, Class<?> targetClass) {
        this.method = method;
        this.args = args;
        this.target = target;
        this.targetClass = targetClass;
    }

    public Method getMethod() {
        return method;
    }

    public String getMethodName() {
        return method.getName();
    }

    public @Nullable Object[] getArgs() {
        return args;
    }

    public Object getTarget() {
        return target;
    }

    public Class<?> getTargetClass() {
        return targetClass;
    }
}
