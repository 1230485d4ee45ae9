package io.holdfast.spring.declaration;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import org.springframework.util.ClassUtils;

/** Annotations of parameters, which Java does not inherit. */
public final class ParameterAnnotations {

    private ParameterAnnotations() {}

    /** Whether the method, or one that it overrides or implements, has it there. */
    static boolean isPresent(Method method, int index, Class<? extends Annotation> type) {
        if (method.getParameters()[index].isAnnotationPresent(type)) {
            return true;
        }
        Class<?> declaring = method.getDeclaringClass();
        for (Class<?> above : ClassUtils.getAllInterfacesForClassAsSet(declaring)) {
            if (isDeclaredIn(above, method, index, type)) {
                return true;
            }
        }
        for (Class<?> above = declaring.getSuperclass(); above != null; above = above.getSuperclass()) {
            if (isDeclaredIn(above, method, index, type)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isDeclaredIn(Class<?> above, Method method, int index, Class<? extends Annotation> type) {
        try {
            Method declared = above.getDeclaredMethod(method.getName(), method.getParameterTypes());
            return declared.getParameters()[index].isAnnotationPresent(type);
        } catch (NoSuchMethodException e) {
            return false;
        }
    }
}
