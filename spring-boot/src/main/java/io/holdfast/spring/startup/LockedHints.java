package io.holdfast.spring.startup;

import io.holdfast.spring.LockKey;
import io.holdfast.spring.declaration.Expressions;
import io.holdfast.spring.declaration.LockedRoot;
import io.holdfast.spring.declaration.OperationReader;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.util.ReflectionUtils;

/**
 * For native images: keys read properties of arguments by reflection, and fallbacks are called by it. {@link LockKey} needs none
 * of this.
 */
public final class LockedHints implements BeanRegistrationAotProcessor {

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        OperationReader reader = new OperationReader(bean.getBeanFactory(), new Expressions(bean.getBeanFactory()));
        Class<?> type = bean.getBeanClass();
        boolean marked = java.util.Arrays.stream(ReflectionUtils.getAllDeclaredMethods(type))
                .anyMatch(method -> reader.isMarked(method, type));
        if (!marked) {
            return null;
        }
        return (context, code) -> {
            ReflectionHints hints = context.getRuntimeHints().reflection();
            hints.registerType(LockedRoot.class, MemberCategory.INVOKE_PUBLIC_METHODS);
            hints.registerType(type, MemberCategory.INVOKE_DECLARED_METHODS);
            for (Method method : ReflectionUtils.getAllDeclaredMethods(type)) {
                if (reader.isMarked(method, type)) {
                    for (Class<?> parameter : method.getParameterTypes()) {
                        if (!parameter.isPrimitive()) {
                            hints.registerType(parameter, MemberCategory.INVOKE_PUBLIC_METHODS);
                        }
                    }
                }
            }
        };
    }
}
