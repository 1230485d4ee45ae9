package io.holdfast.spring.declaration;

import static java.util.Objects.requireNonNull;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.util.ObjectUtils;

/**
 * The names that one annotation gives.
 *
 * @param kind of what the names are
 * @param name the constant part
 * @param keys expressions; each gives names of its own, unless they are joined
 * @param join whether the keys make one name together
 * @param keyParameters indexes of the {@link io.holdfast.spring.LockKey} parameters, which make one key together
 * @param condition false: the call needs no lock; null: the call always needs it
 */
record LockedName(
        Kind kind,
        String name,
        List<Expression> keys,
        boolean join,
        List<Integer> keyParameters,
        @Nullable Expression condition) {

    boolean usesExpressions() {
        return !keys.isEmpty() || condition != null;
    }

    /** Returns whether each call has one name. A collection as key can still give several. */
    boolean isSingle() {
        return join || keys.size() <= 1;
    }

    void addNames(Method method, @Nullable Object[] args, @Nullable EvaluationContext context, Consumer<String> names) {
        if (condition != null && !isNeeded(method, condition, requireNonNull(context))) {
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
        } else if (join) {
            names.accept(joined(method, requireNonNull(context)));
        } else {
            for (Expression key : keys) {
                String what = describe(key);
                addKeys(method, what, value(method, what, key, requireNonNull(context)), names);
            }
        }
    }

    private String joined(Method method, EvaluationContext context) {
        StringBuilder text = new StringBuilder(name);
        for (Expression key : keys) {
            String what = describe(key);
            Object value = value(method, what, key, context);
            if (value instanceof Collection<?> || ObjectUtils.isArray(value)) {
                throw wrong(
                        method,
                        what + " has several elements",
                        kind == Kind.PERMITS ? "one value" : "one value, or no join");
            }
            text.append(':').append(text(method, what, value));
        }
        return text.toString();
    }

    /** Returns the constant part and, after a colon, the text of the key; several keys are several texts. */
    Stream<String> describe() {
        if (!keyParameters.isEmpty()) {
            return Stream.of(
                    keyParameters.stream().map(index -> ":#p" + index).collect(Collectors.joining("", name, "")));
        }
        Stream<String> texts = keys.stream().map(key -> ":" + key.getExpressionString());
        if (keys.isEmpty()) {
            return Stream.of(name);
        }
        return join ? Stream.of(texts.collect(Collectors.joining("", name, ""))) : texts.map(text -> name + text);
    }

    /** Returns a text that two annotations have in common if equal keys give them the same name. */
    String pool() {
        return keyParameters.isEmpty()
                ? describe().collect(Collectors.joining(" "))
                : name + ":@LockKey".repeat(keyParameters.size());
    }

    private static String describe(Expression key) {
        return "key \"" + key.getExpressionString() + "\"";
    }

    private boolean isNeeded(Method method, Expression wanted, EvaluationContext context) {
        String what = "condition \"" + wanted.getExpressionString() + "\"";
        Object value = value(method, what, wanted, context);
        if (value instanceof Boolean needed) {
            return needed;
        }
        throw wrong(method, what + " is " + value, "true or false");
    }

    /**
     * Returns the value of the expression. An exception of the application's own code keeps its type, so that the
     * handlers for it find it, and says in a suppressed one where it arose.
     */
    @Nullable
    Object value(Method method, String what, Expression expression, EvaluationContext context) {
        try {
            return expression.getValue(context);
        } catch (EvaluationException e) {
            IllegalArgumentException wrong =
                    wrong(method, what + " has no value: " + e.getSimpleMessage(), "a value for these arguments");
            wrong.initCause(e);
            throw wrong;
        } catch (RuntimeException e) {
            e.addSuppressed(wrong(method, what + " has no value", "no exception of the code that it calls"));
            throw e;
        }
    }

    private void addKeys(Method method, String what, @Nullable Object value, Consumer<String> names) {
        if (value instanceof Optional<?> optional) {
            addKeys(method, what, optional.orElse(null), names);
        } else if (value instanceof Collection<?> || ObjectUtils.isArray(value)) {
            @Nullable
            Object[] elements =
                    value instanceof Collection<?> several ? several.toArray() : ObjectUtils.toObjectArray(value);
            if (elements.length == 0) {
                throw wrong(method, what + " has no elements", "at least one, since nothing runs without its lock");
            }
            for (Object each : elements) {
                names.accept(name + ":" + text(method, what, each));
            }
        } else {
            names.accept(name + ":" + text(method, what, value));
        }
    }

    private String text(Method method, String what, @Nullable Object value) {
        if (value instanceof Optional<?> optional) {
            return text(method, what, optional.orElse(null));
        }
        String unstable = Texts.whyUnstable(value);
        if (unstable != null) {
            throw wrong(
                    method,
                    what + " " + unstable,
                    "a value whose text is the same in every process, for example an id");
        }
        String text = value == null ? "" : value.toString();
        if (text.isBlank()) {
            throw wrong(
                    method,
                    what + " is " + (value == null ? "null" : "empty"),
                    "a value; calls without one would all share a " + kind.word());
        }
        return text;
    }

    IllegalArgumentException wrong(Method method, String what, String expected) {
        return new IllegalArgumentException(kind.mark() + "(name = \"" + name + "\") on "
                + LockedDefinitionException.describe(method) + ": " + what + " (expected: " + expected + ")");
    }
}
