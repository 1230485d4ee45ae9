package io.holdfast.spring.declaration;

import io.holdfast.spring.LockFailureHandler;
import io.holdfast.spring.OnBusy;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.KotlinDetector;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * Reads what answers a call whose lock is busy: a fallback of the class or of a bean, or a handler. Beans are looked up
 * at the first call that needs them, because they may need the locked bean themselves.
 */
final class BusyAnswers {

    private final ConfigurableListableBeanFactory beans;
    private final Predicate<Method> isLocked;

    BusyAnswers(ConfigurableListableBeanFactory beans, Predicate<Method> isLocked) {
        this.beans = beans;
        this.isLocked = isLocked;
    }

    /**
     * Returns the answer; null if there is none.
     *
     * @throws LockedDefinitionException if the declaration cannot work
     */
    @Nullable
    BusyAnswer of(Method method, Declared annotation) {
        boolean falls = StringUtils.hasText(annotation.fallback());
        boolean handles = annotation.failureHandler() != LockFailureHandler.class;
        boolean skips = annotation.onBusy() == OnBusy.SKIP;
        if ((falls && handles) || (skips && (falls || handles))) {
            throw new LockedDefinitionException(
                    method, "more than one of onBusy = SKIP, fallback and failureHandler", "one of them");
        }
        if (falls) {
            return annotation.fallback().startsWith("@")
                    ? ofBean(method, annotation.fallback())
                    : ofClass(method, annotation.fallback());
        }
        if (handles) {
            return handler(method, annotation.failureHandler());
        }
        boolean global =
                BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, LockFailureHandler.class, true, false).length
                        > 0;
        return global && !skips ? handler(method, LockFailureHandler.class) : null;
    }

    private BusyAnswer ofClass(Method method, String name) {
        Method found = find(method, "fallback \"" + name + "\"", method.getDeclaringClass(), name, "the same class");
        if (isLocked.test(found)) {
            throw new LockedDefinitionException(
                    method,
                    "fallback \"" + name
                            + "\" is locked itself, and it is called past the proxy, so it would run without its lock",
                    "a method that is not locked");
        }
        return (target, arguments, busy) -> invoke(found, target, arguments);
    }

    private BusyAnswer ofBean(Method method, String fallback) {
        int dot = fallback.lastIndexOf('.');
        String bean = fallback.substring(1, Math.max(1, dot));
        String what = "fallback \"" + fallback + "\"";
        Class<?> type = dot > 1 && beans.containsBean(bean) ? beans.getType(bean, false) : null;
        if (type == null) {
            throw new LockedDefinitionException(
                    method,
                    what + ": there is no bean \"" + bean + "\", or its type is not known",
                    "\"@bean.method\" with the name of a bean");
        }
        Method found = find(method, what, ClassUtils.getUserClass(type), fallback.substring(dot + 1), "that bean");
        Supplier<Object> target = new LazyBean<>(() -> beans.getBean(bean));
        return (locked, arguments, busy) ->
                invoke(AopUtils.selectInvocableMethod(found, target.get().getClass()), target.get(), arguments);
    }

    private static Method find(Method method, String what, Class<?> type, String name, String where) {
        Class<?>[] parameters = method.getParameterTypes();
        Method found = ClassUtils.getMethodIfAvailable(type, name, parameters);
        found = found != null ? found : ReflectionUtils.findMethod(type, name, parameters);
        if (KotlinDetector.isSuspendingFunction(method)) {
            // Suspending or not, the Continuation comes last and is no parameter in Kotlin.
            int last = parameters.length - 1;
            found = found != null ? found : ReflectionUtils.findMethod(type, name, Arrays.copyOf(parameters, last));
            found = found != null ? found : ReflectionUtils.findMethod(type, name, parameters[last]);
        }
        found = found != null ? found : ReflectionUtils.findMethod(type, name);
        if (found == null || !ClassUtils.isAssignable(Returns.resultType(method), Returns.resultType(found))) {
            throw new LockedDefinitionException(
                    method,
                    what + (found == null ? " does not exist" : " returns another type"),
                    "a method of " + where + " that returns "
                            + Returns.resultType(method).getSimpleName() + ", with the parameters "
                            + Arrays.toString(method.getParameterTypes()) + " or none");
        }
        return found;
    }

    private static @Nullable Object invoke(Method found, Object target, @Nullable Object[] arguments) throws Throwable {
        int count = found.getParameterCount();
        int from = KotlinDetector.isSuspendingFunction(found) ? arguments.length - count : 0;
        return AopUtils.invokeJoinpointUsingReflection(
                target, found, Arrays.copyOfRange(arguments, from, from + count));
    }

    private BusyAnswer handler(Method method, Class<? extends LockFailureHandler> type) {
        Supplier<LockFailureHandler> handler = new LazyBean<>(() -> {
            LockFailureHandler bean = beans.getBeanProvider(type).getIfAvailable();
            return bean != null ? bean : beans.createBean(type);
        });
        return (target, arguments, busy) -> {
            Object result = handler.get().handle(method, arguments, busy);
            Class<?> returns = Returns.resultType(method);
            // The result for a method without one is dropped.
            if (returns != void.class && !ClassUtils.isAssignableValue(returns, result)) {
                throw new IllegalStateException("The LockFailureHandler returned "
                        + (result == null ? "null" : "a " + result.getClass().getName()) + " for "
                        + LockedDefinitionException.describe(method) + " (expected: a "
                        + returns.getName() + ", or an exception)");
            }
            return result;
        };
    }
}
