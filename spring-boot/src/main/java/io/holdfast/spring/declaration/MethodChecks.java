package io.holdfast.spring.declaration;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Optional;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.KotlinDetector;

/** Refuses methods that no proxy can intercept, or that cannot be skipped; for all annotations. */
final class MethodChecks {

    private MethodChecks() {}

    static void refuseIf(boolean wrong, Method method, String what, String wayOut) {
        if (wrong) {
            throw new LockedDefinitionException(method, what, wayOut);
        }
    }

    static void checkCanBeIntercepted(Method method, Class<?> targetClass) {
        int modifiers = method.getModifiers();
        String kind = Modifier.isPrivate(modifiers)
                ? "private"
                : Modifier.isStatic(modifiers)
                        ? "static"
                        : Modifier.isFinal(modifiers)
                                ? "final"
                                : isHidden(method, targetClass) ? "package-private inherited" : null;
        refuseIf(
                kind != null,
                method,
                "a " + kind + " method cannot be intercepted, so it would run " + Marks.unguarded(method),
                KotlinDetector.isKotlinType(method.getDeclaringClass()) && "final".equals(kind)
                        ? OperationReader.OPEN_IN_KOTLIN
                        : "a method that a subclass can override");
    }

    /**
     * Returns whether the method is package-private in another package, where no subclass of the target class can
     * override it.
     */
    @SuppressWarnings("ReferenceEquality") // the very loader that defined both
    private static boolean isHidden(Method method, Class<?> targetClass) {
        int visible = Modifier.PUBLIC | Modifier.PROTECTED;
        Class<?> declaring = method.getDeclaringClass();
        return (method.getModifiers() & visible) == 0
                && !(declaring.getPackageName().equals(targetClass.getPackageName())
                        && declaring.getClassLoader() == targetClass.getClassLoader());
    }

    /**
     * Refuses a method that is skipped at times, and whose result can be neither null nor empty.
     *
     * @param why says when it is skipped, for the message
     * @param orElse another way out; may be empty
     */
    static void checkCanBeSkipped(Method method, Returns returns, String why, String orElse) {
        Class<?> type = Returns.resultType(method);
        refuseIf(
                type.isPrimitive() && type != void.class,
                method,
                why + ", but it returns " + type + ", which cannot be null or empty",
                "a return type that can be null or empty" + orElse);
        boolean isValue = returns == Returns.VALUE || returns == Returns.SUSPENDED;
        refuseIf(
                isValue && Returns.isNeverNull(method),
                method,
                why + ", but it returns a " + type.getSimpleName() + " that Kotlin declares as never null",
                "a nullable return type (" + type.getSimpleName() + "?), Unit" + orElse);
    }

    /**
     * Returns the text of an attribute with the values of its placeholders.
     *
     * @param place the annotation and what it is on, for the message
     */
    static String resolve(ConfigurableBeanFactory beans, String place, String what, String text) {
        String resolved;
        try {
            resolved = beans.resolveEmbeddedValue(text);
        } catch (IllegalArgumentException e) {
            resolved = text;
        }
        // Some resolvers leave a placeholder that they do not know.
        if (resolved != null && resolved.contains("${")) {
            throw new LockedDefinitionException(
                    place,
                    what + " \"" + text + "\" has a placeholder without a value",
                    "a property that is set, or a default: ${name:default}; a parameter is written as key = \"#name\"");
        }
        return resolved == null ? "" : resolved;
    }

    /** Returns the time that an attribute says; empty if it says nothing. */
    static Optional<Duration> duration(ConfigurableBeanFactory beans, Method method, String what, String text) {
        String resolved = resolve(beans, Marks.on(method), what, text).strip();
        if (resolved.isEmpty()) {
            return Optional.empty();
        }
        try {
            // A number without a unit would be milliseconds here and seconds elsewhere; zero needs no unit.
            boolean bare = resolved.matches("[+-]?\\d+") && !resolved.matches("0+");
            Duration parsed = bare ? null : DurationStyle.detectAndParse(resolved);
            if (parsed != null && !parsed.isNegative()) {
                return Optional.of(parsed);
            }
        } catch (IllegalArgumentException | ArithmeticException e) {
            // Refused below.
        }
        throw new LockedDefinitionException(
                method, what + ": \"" + resolved + "\"", "a number with its unit, for example 500ms, 10s or 5m");
    }
}
