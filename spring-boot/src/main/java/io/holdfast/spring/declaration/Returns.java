package io.holdfast.spring.declaration;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/** The kinds of return types, by when the work of the method ends. */
public enum Returns {
    /** The work ends when the method returns. */
    VALUE,
    /** A {@code CompletionStage} or {@code CompletableFuture}. */
    STAGE,
    /** Reactor's. */
    MONO,
    /** Reactor's. */
    FLUX,
    /** A suspending function of Kotlin, whose work ends when its coroutine does. */
    SUSPENDED;

    /**
     * Types whose work may continue, or only begin, after the method has returned. The last five are for web
     * controllers.
     */
    private static final List<String> WORK_GOES_ON = List.of(
            "java.util.concurrent.Future",
            "java.util.concurrent.CompletionStage",
            "java.util.concurrent.Flow$Publisher",
            "org.reactivestreams.Publisher",
            "kotlinx.coroutines.flow.Flow",
            "kotlinx.coroutines.Job",
            "java.util.concurrent.Callable",
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.context.request.async.WebAsyncTask",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

    /** Types of which every method has a value that stands for "nothing was done". */
    private static final Set<String> NULL_OR_EMPTY = Set.of("void", "kotlin.Unit", "java.util.Optional");

    /** Without these two, Spring passes a suspending function on as it is. */
    private static final boolean CAN_SUSPEND =
            ClassUtils.isPresent("kotlinx.coroutines.reactor.MonoKt", Returns.class.getClassLoader())
                    && KotlinDetector.isKotlinReflectPresent();

    private static final ClassValue<Boolean> GOES_ON = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return WORK_GOES_ON.stream().anyMatch(each -> isAssignable(each, type))
                    // RxJava, Mutiny, and others that Spring can adapt.
                    || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
        }
    };

    /**
     * Returns the kind of this method.
     *
     * @throws LockedDefinitionException if the end of its work is not known
     */
    static Returns of(Method method, Class<?> targetClass) {
        if (KotlinDetector.isSuspendingFunction(method)) {
            return suspended(method);
        }
        // Resolves a type variable by the target class.
        Class<?> type = GenericTypeResolver.resolveReturnType(method, targetClass);
        if (type == CompletionStage.class || type == CompletableFuture.class) {
            return STAGE;
        }
        // By name: Reactor may be absent.
        if (type.getName().equals("reactor.core.publisher.Mono")) {
            return MONO;
        }
        if (type.getName().equals("reactor.core.publisher.Flux")) {
            return FLUX;
        }
        if (GOES_ON.get(type)) {
            throw new LockedDefinitionException(
                    method,
                    "the end of the work behind a " + type.getName() + " is not known",
                    "a plain value, CompletionStage, CompletableFuture, Mono or Flux");
        }
        return VALUE;
    }

    private static Returns suspended(Method method) {
        if (!CAN_SUSPEND) {
            throw new LockedDefinitionException(
                    method,
                    "it is a suspending function, which Spring cannot intercept on this class path",
                    "the dependencies kotlinx-coroutines-reactor and kotlin-reflect");
        }
        Class<?> type = resultType(method);
        if (GOES_ON.get(type)) {
            throw new LockedDefinitionException(
                    method,
                    "a suspending function that returns a " + type.getName() + ", whose work goes on afterwards",
                    "a suspending function that returns the value itself");
        }
        return SUSPENDED;
    }

    /** Returns the return type; of a suspending function, what it returns in Kotlin. */
    public static Class<?> resultType(Method method) {
        if (!KotlinDetector.isSuspendingFunction(method)) {
            return method.getReturnType();
        }
        // The last parameter is a Continuation<? super R>.
        return ResolvableType.forMethodParameter(method, method.getParameterCount() - 1)
                .getGeneric(0)
                .resolve(Object.class);
    }

    /** Returns the type of the result, of a {@code Mono} that of its value, without the variables that the class binds. */
    static Type genericResultType(Method method, Class<?> targetClass, Returns returns) {
        return switch (returns) {
            case SUSPENDED -> {
                // The last parameter is a Continuation<? super R>.
                Type result = ResolvableType.forMethodParameter(method, method.getParameterCount() - 1)
                        .getGeneric(0)
                        .getType();
                yield result instanceof WildcardType wildcard && wildcard.getLowerBounds().length > 0
                        ? wildcard.getLowerBounds()[0]
                        : result;
            }
            case MONO ->
                ResolvableType.forMethodReturnType(method, targetClass)
                        .getGeneric(0)
                        .getType();
            default -> GenericTypeResolver.resolveType(method.getGenericReturnType(), targetClass);
        };
    }

    /** Returns whether the work behind a value of this type may go on after a method has returned it. */
    static boolean goesOn(Class<?> type) {
        return GOES_ON.get(type);
    }

    /** Returns whether Kotlin refuses null as the result of this method, as far as that is known. */
    static boolean isNeverNull(Method method) {
        Class<?> type = resultType(method);
        return KotlinDetector.isKotlinReflectPresent()
                && KotlinDetector.isKotlinType(method.getDeclaringClass())
                && !NULL_OR_EMPTY.contains(type.getName())
                // Unknown: a type variable may stand for a type with null.
                && !(method.getGenericReturnType() instanceof TypeVariable<?>)
                && !new MethodParameter(method, -1).isOptional();
    }

    /**
     * Refuses a result whose work continues, of a method that is declared to return {@code Object}: no lock would
     * protect it, and no revocation would end it.
     */
    public static void checkIsDone(Method method, @Nullable Object result) {
        if (result == null
                || method.getReturnType() != Object.class
                || !GOES_ON.get(result.getClass())
                || isDone(result)) {
            return;
        }
        throw new IllegalStateException(Marks.on(method) + " returned a "
                + result.getClass().getName()
                + (Marks.isLeaderOnly(method)
                        ? ", whose work goes on when this process no longer leads"
                        : ", whose work goes on without the lock")
                + " (expected: CompletionStage, CompletableFuture, Mono or Flux as its declared return type)");
    }

    private static boolean isDone(Object result) {
        try {
            return result instanceof CompletionStage<?> stage
                    ? stage.toCompletableFuture().isDone()
                    : result instanceof Future<?> future && future.isDone();
        } catch (UnsupportedOperationException e) {
            // A stage need not be convertible.
            return false;
        }
    }

    private static boolean isAssignable(String superType, Class<?> type) {
        try {
            return ClassUtils.forName(superType, Returns.class.getClassLoader()).isAssignableFrom(type);
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
