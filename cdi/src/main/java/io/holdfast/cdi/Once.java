package io.holdfast.cdi;

import static io.holdfast.cdi.KeyTemplate.wrong;

import io.holdfast.Lease;
import io.holdfast.Term;
import jakarta.enterprise.inject.spi.DefinitionException;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How the work of a method is done once for each key, read and checked.
 *
 * @param fingerprint null: the texts of all arguments
 * @param stored the type of what is stored: the content of an Optional; null if there is no result
 */
record Once(
        String place,
        Method method,
        @Nullable KeyTemplate fingerprint,
        Duration keepFor,
        String dataSource,
        @Nullable Type stored) {

    private static final String TRANSACTIONAL = "jakarta.transaction.Transactional";

    /** @throws DefinitionException if the declaration cannot work */
    static Once of(String place, Method method, Idempotent from) {
        if (from.key().isBlank()) {
            throw wrong(
                    place, "it has no key, so the method would run once for ever", "key = \"{orderId}\", for example");
        }
        if (MethodReader.isStage(place, method)) {
            throw wrong(
                    place,
                    "a method that returns a stage, and a transaction belongs to one thread",
                    "a method that returns its result");
        }
        if (!isMarked(method, new HashSet<>()) && !isMarked(method.getDeclaringClass(), new HashSet<>())) {
            throw wrong(
                    place,
                    "neither the method nor its class has @Transactional, so the key would be committed without the work",
                    "@Transactional on the method");
        }
        Duration keepFor =
                MethodReader.duration(place, "keepFor", from.keepFor()).orElse(Duration.ZERO);
        if (keepFor.compareTo(Duration.ofSeconds(1)) < 0) {
            throw wrong(place, "keepFor = \"" + from.keepFor() + "\"", "at least 1s, for example 7d");
        }
        return new Once(
                place,
                method,
                from.fingerprint().isEmpty() ? null : KeyTemplate.of(place, method, from.fingerprint()),
                keepFor,
                from.dataSource(),
                stored(method.getGenericReturnType()));
    }

    /**
     * Compares names: the type may be absent.
     *
     * @param seen the types that were looked at: an annotation may be annotated with itself
     */
    private static boolean isMarked(AnnotatedElement element, Set<Class<?>> seen) {
        for (Annotation each : element.getAnnotations()) {
            Class<?> type = each.annotationType();
            if (type.getName().equals(TRANSACTIONAL) || (seen.add(type) && isMarked(type, seen))) {
                return true;
            }
        }
        return false;
    }

    private static @Nullable Type stored(Type type) {
        if (type == void.class || type == Void.class) {
            return null;
        }
        return type instanceof ParameterizedType generic && generic.getRawType() == Optional.class
                ? generic.getActualTypeArguments()[0]
                : type;
    }

    /**
     * Returns what must be equal in all calls with a key.
     *
     * @throws IllegalArgumentException if the text of an argument differs between processes
     */
    String fingerprint(@Nullable Object[] arguments) {
        if (fingerprint != null) {
            return fingerprint.text(arguments);
        }
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < arguments.length; i++) {
            Class<?> type = method.getParameterTypes()[i];
            if (type != Lease.class && type != Term.class) {
                String text = arguments[i] == null ? "" : text(i, arguments[i]);
                // With its length, no two lists of texts are equal.
                all.append(arguments[i] == null ? -1 : text.length())
                        .append(':')
                        .append(text);
            }
        }
        return all.toString();
    }

    /** Sets and maps are sorted: equal ones may have another order in another process, as those of {@code Set.of} do. */
    private String text(int index, @Nullable Object argument) {
        if (argument instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(entry -> text(index, entry.getKey()) + "=" + text(index, entry.getValue()))
                    .sorted()
                    .toList()
                    .toString();
        }
        if (argument instanceof Collection<?> several) {
            Stream<String> texts = several.stream().map(each -> text(index, each));
            return (several instanceof Set ? texts.sorted() : texts).toList().toString();
        }
        if (argument == null) {
            return "null";
        }
        String text = argument.toString();
        if (argument.getClass().isArray() || KeyTemplate.isIdentity(argument, text)) {
            throw new IllegalArgumentException(
                    place + ": {" + index + "} is a " + argument.getClass().getTypeName()
                            + ", which has no toString() of its own (expected: fingerprint = \"{0.amount}\", for example)");
        }
        return text;
    }

    boolean isOptional() {
        return method.getReturnType() == Optional.class;
    }
}
