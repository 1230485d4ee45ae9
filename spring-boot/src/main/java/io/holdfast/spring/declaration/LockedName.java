package io.holdfast.spring.declaration;

import io.holdfast.spring.LockKey;
import io.holdfast.spring.Locked;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;

/**
 * The names that one {@link Locked} asks for.
 *
 * @param name the fixed part
 * @param keys expressions, each for a name of its own; or empty
 * @param keyParameters indexes of the {@link LockKey} parameters, together one key; or empty
 * @param condition whether it is needed at all; null: always
 */
public record LockedName(
        String name,
        List<Expression> keys,
        List<Integer> keyParameters,
        @Nullable Expression condition) {

    boolean usesExpressions() {
        return !keys.isEmpty() || condition != null;
    }

    /** Whether it gives one name for every call, as far as can be told beforehand. */
    boolean isSingle() {
        return keys.size() <= 1;
    }

    void addNames(Method method, @Nullable Object[] args, @Nullable EvaluationContext context, Consumer<String> names) {
        if (condition != null && !isNeeded(method, context)) {
            return;
        }
        if (!keyParameters.isEmpty()) {
            StringBuilder text = new StringBuilder(name);
            for (int index : keyParameters) {
                text.append(':').append(text(method, "parameter " + index, args[index]));
            }
            names.accept(text.toString());
        } else if (keys.isEmpty()) {
            names.accept(name);
        } else {
            for (Expression key : keys) {
                String what = "key \"" + key.getExpressionString() + "\"";
                addKeys(method, what, key.getValue(java.util.Objects.requireNonNull(context)), names);
            }
        }
    }

    private boolean isNeeded(Method method, @Nullable EvaluationContext context) {
        Expression wanted = java.util.Objects.requireNonNull(condition);
        Object value = wanted.getValue(java.util.Objects.requireNonNull(context));
        if (value instanceof Boolean needed) {
            return needed;
        }
        throw wrong(method, "condition \"" + wanted.getExpressionString() + "\" is " + value, "true or false");
    }

    private void addKeys(Method method, String what, @Nullable Object value, Consumer<String> names) {
        if (value instanceof Optional<?> optional) {
            addKeys(method, what, optional.orElse(null), names);
        } else if (value instanceof Collection<?> several) {
            refuseEmpty(method, what, several.isEmpty());
            several.forEach(each -> names.accept(name + ":" + text(method, what, each)));
        } else if (value != null && value.getClass().isArray()) {
            int length = Array.getLength(value);
            refuseEmpty(method, what, length == 0);
            for (int i = 0; i < length; i++) {
                names.accept(name + ":" + text(method, what, Array.get(value, i)));
            }
        } else {
            names.accept(name + ":" + text(method, what, value));
        }
    }

    private void refuseEmpty(Method method, String what, boolean empty) {
        if (empty) {
            throw wrong(method, what + " has no elements", "at least one, since nothing runs without its lock");
        }
    }

    private String text(Method method, String what, @Nullable Object value) {
        if (value instanceof Optional<?> optional) {
            return text(method, what, optional.orElse(null));
        }
        String text = value == null ? "" : value.toString();
        if (value != null) {
            refuseNameless(method, what, value, text);
        }
        if (text.isBlank()) {
            throw wrong(
                    method,
                    what + " is " + (value == null ? "null" : "empty"),
                    "a value; calls without one would all share a lock");
        }
        return text;
    }

    /**
     * The text that every object has is made of its hash code. That of an address or an enum is another one in each
     * process, and so is a hash code that is made of such.
     */
    private void refuseNameless(Method method, String what, Object value, String text) {
        if (text.equals(value.getClass().getName() + "@" + Integer.toHexString(value.hashCode()))) {
            throw wrong(
                    method,
                    what + " is a " + value.getClass().getName() + ", which has no toString() of its own",
                    "what tells it from others everywhere, for example its id");
        }
        if (value instanceof Collection<?> several) {
            for (Object each : several) {
                if (each != null) {
                    refuseNameless(method, what, each, each.toString());
                }
            }
        }
    }

    private IllegalArgumentException wrong(Method method, String what, String expected) {
        return new IllegalArgumentException("@Locked(name = \"" + name + "\") on "
                + LockedDefinitionException.describe(method) + ": " + what + " (expected: " + expected + ")");
    }
}
