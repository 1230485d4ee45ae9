package io.holdfast.spring.call;

import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.MultiLease;
import io.holdfast.OnceConflictException;
import io.holdfast.spring.declaration.Kind;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.spring.declaration.LockedOperation;
import io.holdfast.spring.declaration.Once;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;

/**
 * What is stored of a call of one method whose work is done once: a fingerprint of its arguments, and its result.
 *
 * @param json null: the method has no result, and its fingerprint is an expression or empty
 */
record OnceValues(LockedOperation operation, @Nullable OnceJson json) {

    /**
     * Refuses a method that needs JSON in an application without a mapper.
     *
     * @throws LockedDefinitionException if it does
     */
    void check() {
        if (json != null || !needsJson()) {
            return;
        }
        throw new LockedDefinitionException(
                operation.place(),
                "its " + (hasResult() ? "result and arguments" : "arguments")
                        + " need JSON, and there is no ObjectMapper bean, or there are several and none is primary",
                hasResult()
                        ? "the dependency spring-boot-starter-json (Boot 3) or spring-boot-starter-jackson (Boot 4)"
                        : "the dependency spring-boot-starter-json, or a fingerprint");
    }

    private boolean needsJson() {
        return hasResult()
                || isRequest()
                || (requireNonNull(operation.once()).fingerprint() == null
                        && Arrays.stream(operation.method().getParameterTypes()).anyMatch(OnceValues::isCompared));
    }

    String fingerprint(LockedCall call, @Nullable EvaluationContext context) {
        Once rules = requireNonNull(operation.once());
        Expression expression = rules.fingerprint();
        if (expression != null) {
            return rules.fingerprint(operation, expression, requireNonNull(context));
        }
        List<@Nullable Object> compared = compared(call);
        if (compared.isEmpty()) {
            return "";
        }
        try {
            return requireNonNull(json).sorted(compared);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    operation.place() + ": the arguments cannot be compared as JSON: " + e.getMessage()
                            + " (expected: arguments that the ObjectMapper can write, or fingerprint = \"#p0.amount\","
                            + " for example)",
                    e);
        }
    }

    private List<@Nullable Object> compared(LockedCall call) {
        @Nullable Object[] arguments = call.invocation().getArguments();
        if (isRequest()) {
            return requireNonNull(call.request()).compared(operation.method(), arguments);
        }
        List<@Nullable Object> compared = new ArrayList<>();
        Class<?>[] types = operation.method().getParameterTypes();
        for (int i = 0; i < types.length; i++) {
            if (isCompared(types[i])) {
                compared.add(arguments[i]);
            }
        }
        return compared;
    }

    private boolean isRequest() {
        return operation.kind() == Kind.REQUEST;
    }

    /** Returns whether the result is an answer that nothing may stay of, so that a repetition does the work. */
    boolean isFailure(@Nullable Object result) {
        return isRequest() && OnceAnswer.isFailure(result);
    }

    /** Returns what the caller receives instead of a conflict. */
    RuntimeException conflict(OnceConflictException e) {
        return isRequest() ? OnceAnswer.conflict(e) : e;
    }

    /** Returns the stored result, and marks the answer to a request. */
    @Nullable
    Object replay(LockedCall call, @Nullable String stored) {
        Object result = read(stored);
        OnceRequest request = call.request();
        if (request != null) {
            request.replayed().run();
        }
        return result;
    }

    private boolean isEntity() {
        return isRequest()
                && OnceAnswer.isEntity(ResolvableType.forType(resultType()).resolve(Object.class));
    }

    /** Returns whether a parameter of this type is a part of the call, unlike a lease or the rest of a coroutine. */
    private static boolean isCompared(Class<?> type) {
        return type != Lease.class
                && type != MultiLease.class
                && !type.getName().equals("kotlin.coroutines.Continuation");
    }

    private boolean hasResult() {
        Class<?> type = ResolvableType.forType(resultType()).resolve(Object.class);
        return type != void.class && type != Void.class && !type.getName().equals("kotlin.Unit");
    }

    private boolean isOptional() {
        return ResolvableType.forType(resultType()).resolve() == Optional.class;
    }

    private Type resultType() {
        return requireNonNull(operation.once()).resultType();
    }

    /** Returns the type of the content of an Optional, of the body of an answer, or the type of the result. */
    private Type storedType() {
        Type type = resultType();
        if (isEntity()) {
            return OnceAnswer.bodyType(type);
        }
        return isOptional() ? ResolvableType.forType(type).getGeneric(0).getType() : type;
    }

    /** Returns null for null. A result that no later call could read fails this one, which leaves nothing. */
    @Nullable
    String write(@Nullable Object result) {
        Object content = result instanceof Optional<?> optional ? optional.orElse(null) : result;
        if (!hasResult() || content == null) {
            return null;
        }
        try {
            OnceJson mapper = requireNonNull(json);
            String written =
                    isEntity() ? OnceAnswer.write(mapper, content, storedType()) : mapper.write(content, storedType());
            Object unused = content(written);
            return written;
        } catch (IllegalArgumentException e) {
            throw unusable("cannot be stored as JSON and read back", e);
        }
    }

    private @Nullable Object read(@Nullable String stored) {
        Object content = null;
        if (stored != null) {
            try {
                content = content(stored);
            } catch (IllegalArgumentException e) {
                throw unusable("was stored before and cannot be read", e);
            }
        }
        return isOptional() ? Optional.ofNullable(content) : content;
    }

    private @Nullable Object content(String stored) {
        OnceJson mapper = requireNonNull(json);
        return isEntity() ? OnceAnswer.read(mapper, stored, storedType()) : mapper.read(stored, storedType());
    }

    private IllegalStateException unusable(String what, IllegalArgumentException e) {
        return new IllegalStateException(
                operation.place() + ": the result " + what + " as "
                        + storedType().getTypeName() + ": " + e.getMessage()
                        + " (expected: a return type that the ObjectMapper can write and read)",
                e);
    }
}
