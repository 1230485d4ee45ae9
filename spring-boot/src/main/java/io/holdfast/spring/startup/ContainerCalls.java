package io.holdfast.spring.startup;

import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.spring.declaration.Marks;
import io.holdfast.spring.declaration.OperationReader;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;
import org.springframework.util.ObjectUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the methods that the container calls at the beginning and end of a bean: on the object itself, past every
 * proxy.
 */
final class ContainerCalls {

    private ContainerCalls() {}

    /**
     * Refuses such a method if it has an annotation of its own. An annotation on the class is meant for the methods
     * that others call.
     *
     * @throws LockedDefinitionException if there is such a method
     */
    static void refuse(Class<?> type, @Nullable BeanDefinition definition) {
        for (Method method : ReflectionUtils.getAllDeclaredMethods(type)) {
            // The container calls an override, which need not repeat the annotation of the container.
            Method called = OperationReader.specific(method, type);
            if (isCalledByContainer(method, type, definition) && OperationReader.isMarkedItself(called)) {
                throw new LockedDefinitionException(
                        called,
                        "the container calls it on the object itself, past every proxy, so it would run "
                                + Marks.unguarded(called),
                        "a method that is called later, for example by @EventListener(ApplicationReadyEvent.class);"
                                + " or a LockClient used in it");
            }
        }
    }

    private static boolean isCalledByContainer(Method method, Class<?> type, @Nullable BeanDefinition definition) {
        if (method.getParameterCount() > 0 || method.isSynthetic()) {
            return false;
        }
        String name = method.getName();
        return isMarkedFor("PostConstruct", method)
                || isMarkedFor("PreDestroy", method)
                || (name.equals("afterPropertiesSet") && InitializingBean.class.isAssignableFrom(type))
                || (name.equals("destroy") && DisposableBean.class.isAssignableFrom(type))
                || (definition instanceof AbstractBeanDefinition known
                        && (ObjectUtils.containsElement(known.getInitMethodNames(), name)
                                || ObjectUtils.containsElement(known.getDestroyMethodNames(), name)
                                || isInferred(method, type, known)));
    }

    /**
     * Returns whether the container calls the method by inference: {@code close()}, or {@code shutdown()} if there is
     * none.
     */
    private static boolean isInferred(Method method, Class<?> type, AbstractBeanDefinition known) {
        boolean closeable = AutoCloseable.class.isAssignableFrom(type);
        boolean infers = ObjectUtils.containsElement(known.getDestroyMethodNames(), AbstractBeanDefinition.INFER_METHOD)
                || (closeable && known.getDestroyMethodNames() == null);
        if (!infers
                || !Modifier.isPublic(method.getModifiers())
                || known.isPrototype()
                || DisposableBean.class.isAssignableFrom(type)) {
            return false;
        }
        String name = method.getName();
        return name.equals("close") || (name.equals("shutdown") && !ClassUtils.hasMethod(type, "close"));
    }

    private static boolean isMarkedFor(String what, Method method) {
        MergedAnnotations annotations = MergedAnnotations.from(method);
        // Spring Framework 6 knows the older names, too.
        return annotations.isPresent("jakarta.annotation." + what) || annotations.isPresent("javax.annotation." + what);
    }
}
