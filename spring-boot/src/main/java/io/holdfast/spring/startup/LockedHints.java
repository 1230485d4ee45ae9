package io.holdfast.spring.startup;

import io.holdfast.spring.declaration.Expressions;
import io.holdfast.spring.declaration.LockedRoot;
import io.holdfast.spring.declaration.OperationReader;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.util.ReflectionUtils;

/**
 * Registers reflection hints for native images: keys read properties of arguments, and fallbacks are called, by
 * reflection. {@link io.holdfast.spring.LockKey} and {@link io.holdfast.spring.Leader} need none.
 */
final class LockedHints implements BeanRegistrationAotProcessor {

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        OperationReader reader = new OperationReader(bean.getBeanFactory(), new Expressions(bean.getBeanFactory()));
        Class<?> type = bean.getBeanClass();
        List<Method> marked = Arrays.stream(ReflectionUtils.getAllDeclaredMethods(type))
                .filter(method -> reader.isLocked(method, type))
                .toList();
        if (marked.isEmpty()) {
            return null;
        }
        return (context, code) -> {
            ReflectionHints hints = context.getRuntimeHints().reflection();
            hints.registerType(LockedRoot.class, MemberCategory.INVOKE_PUBLIC_METHODS);
            hints.registerType(type, MemberCategory.INVOKE_DECLARED_METHODS);
            marked.stream()
                    .flatMap(method -> Arrays.stream(method.getParameterTypes()))
                    .filter(parameter -> !parameter.isPrimitive())
                    .forEach(parameter -> hints.registerType(parameter, MemberCategory.INVOKE_PUBLIC_METHODS));
        };
    }
}
