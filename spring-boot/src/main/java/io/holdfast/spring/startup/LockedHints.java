package io.holdfast.spring.startup;

import io.holdfast.spring.Idempotent;
import io.holdfast.spring.IdempotentRequest;
import io.holdfast.spring.declaration.Expressions;
import io.holdfast.spring.declaration.LockedRoot;
import io.holdfast.spring.declaration.OperationReader;
import io.holdfast.spring.declaration.RequestChecks;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ReflectionUtils;

/**
 * Registers reflection hints for native images: keys read properties of arguments, and fallbacks are called, by
 * reflection. {@link io.holdfast.spring.LockKey} and {@link io.holdfast.spring.Leader} need none.
 */
final class LockedHints implements BeanRegistrationAotProcessor {

    /** By {@link io.holdfast.spring.call.OnceCalls}. */
    private static final List<String> LOOKED_FOR = List.of(
            "io.holdfast.jdbc.JdbcOnce",
            "org.springframework.jdbc.datasource.DataSourceUtils",
            "tools.jackson.databind.json.JsonMapper",
            "com.fasterxml.jackson.databind.ObjectMapper");

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
            marked.stream().filter(LockedHints::isOnce).forEach(method -> registerOnce(hints, method));
        };
    }

    private static boolean isOnce(Method method) {
        MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
        return annotations.isPresent(Idempotent.class) || annotations.isPresent(IdempotentRequest.class);
    }

    /** Registers what becomes JSON and back, and the types that are looked for by their names. */
    private static void registerOnce(ReflectionHints hints, Method method) {
        BindingReflectionHintsRegistrar json = new BindingReflectionHintsRegistrar();
        json.registerReflectionHints(hints, method.getGenericReturnType());
        json.registerReflectionHints(hints, method.getGenericParameterTypes());
        Stream.of(LOOKED_FOR, RequestChecks.typesLookedFor())
                .flatMap(List::stream)
                .forEach(name -> hints.registerTypeIfPresent(LockedHints.class.getClassLoader(), name));
        hints.registerTypeIfPresent(
                LockedHints.class.getClassLoader(),
                "org.springframework.orm.jpa.JpaTransactionManager",
                type -> type.withMethod("getDataSource", List.of(), ExecutableMode.INVOKE));
    }
}
