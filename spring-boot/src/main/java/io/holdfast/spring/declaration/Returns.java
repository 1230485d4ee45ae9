package io.holdfast.spring.declaration;

import io.holdfast.spring.call.ReactiveCall;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/** What a method returns, as far as it matters for when its work is over. */
public enum Returns {
    /** The work is over when the method returns. */
    VALUE,
    /** A {@code CompletionStage}, or a {@code CompletableFuture}. */
    STAGE,
    /** Reactor's. */
    MONO,
    FLUX;

    private static final boolean REACTOR =
            ClassUtils.isPresent("reactor.core.publisher.Flux", Returns.class.getClassLoader());

    /** Whether the work behind an object of that type may go on, or only begin, when the method has returned. */
    private static final ClassValue<Boolean> GOES_ON = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return Future.class.isAssignableFrom(type)
                    || CompletionStage.class.isAssignableFrom(type)
                    || isAssignable("org.reactivestreams.Publisher", type)
                    || isAssignable("java.util.concurrent.Flow$Publisher", type)
                    || isAssignable("kotlinx.coroutines.flow.Flow", type)
                    || isAssignable("kotlinx.coroutines.Job", type)
                    // RxJava, Mutiny, and whatever else Spring can adapt.
                    || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null
                    || isRunByWebServer(type);
        }
    };

    /**
     * How this method is treated.
     *
     * @throws LockedDefinitionException if it cannot be known when its work is over
     */
    static Returns of(Method method, Class<?> targetClass) {
        // What a type variable stands for in this class.
        Class<?> type = GenericTypeResolver.resolveReturnType(method, targetClass);
        if (type == CompletionStage.class || type == CompletableFuture.class) {
            return STAGE;
        }
        if (REACTOR && ReactiveCall.isMono(type)) {
            return MONO;
        }
        if (REACTOR && ReactiveCall.isFlux(type)) {
            return FLUX;
        }
        if (GOES_ON.get(type) || isSuspending(method)) {
            throw new LockedDefinitionException(
                    method,
                    "it cannot be known when the work behind a " + type.getName() + " is over",
                    "a plain value, CompletionStage, CompletableFuture, Mono or Flux");
        }
        return VALUE;
    }

    /** Refuses what a method returned that is declared to return any object: nobody would hold the lock for it. */
    public static void checkIsDone(Method method, @Nullable Object result) {
        if (result == null || method.getReturnType() != Object.class) {
            return;
        }
        if (!GOES_ON.get(result.getClass()) || isDone(result)) {
            return;
        }
        throw new IllegalStateException("@Locked on " + LockedDefinitionException.describe(method) + " returned a "
                + result.getClass().getName()
                + ", whose work goes on without the lock (expected: CompletionStage, CompletableFuture, Mono or Flux as its declared"
                + " return type)");
    }

    private static boolean isDone(Object result) {
        try {
            return result instanceof CompletionStage<?> stage
                    ? stage.toCompletableFuture().isDone()
                    : result instanceof Future<?> future && future.isDone();
        } catch (UnsupportedOperationException e) {
            // A stage may refuse to tell.
            return false;
        }
    }

    /** The result of a method that was skipped. */
    @Nullable
    public Object nothing(Method method) {
        return switch (this) {
            case STAGE -> CompletableFuture.completedFuture(null);
            case MONO -> ReactiveCall.emptyMono();
            case FLUX -> ReactiveCall.emptyFlux();
            case VALUE -> method.getReturnType() == Optional.class ? Optional.empty() : null;
        };
    }

    /** What a controller may return to go on after it has returned. */
    private static boolean isRunByWebServer(Class<?> type) {
        return Callable.class.isAssignableFrom(type)
                || isAssignable("org.springframework.web.context.request.async.DeferredResult", type)
                || isAssignable("org.springframework.web.context.request.async.WebAsyncTask", type)
                || isAssignable("org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter", type)
                || isAssignable("org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody", type);
    }

    private static boolean isAssignable(String superType, Class<?> type) {
        try {
            return ClassUtils.forName(superType, Returns.class.getClassLoader()).isAssignableFrom(type);
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static boolean isSuspending(Method method) {
        Class<?>[] types = method.getParameterTypes();
        return types.length > 0 && types[types.length - 1].getName().equals("kotlin.coroutines.Continuation");
    }
}
