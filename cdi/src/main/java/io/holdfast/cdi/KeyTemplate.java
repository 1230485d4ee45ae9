package io.holdfast.cdi;

import jakarta.enterprise.inject.spi.DefinitionException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A key of a method: texts, and values of the arguments between them.
 *
 * @param place the annotation and the method, for messages
 */
record KeyTemplate(String place, List<Part> parts) {

    private static final Pattern VALUE = Pattern.compile("\\{([^{}]*)}");

    /**
     * A text and the value after it.
     *
     * @param before the text
     * @param written the value as the key has it; empty: none
     * @param index the argument
     * @param getters read one after the other, beginning with the argument
     */
    record Part(String before, String written, int index, List<MethodHandle> getters) {}

    /** @throws DefinitionException if the key does not fit to the method */
    static KeyTemplate of(String place, Method method, String key) {
        List<Part> parts = new ArrayList<>();
        Matcher values = VALUE.matcher(key);
        int end = 0;
        while (values.find()) {
            parts.add(part(place, method, literal(place, key, key.substring(end, values.start())), values.group(1)));
            end = values.end();
        }
        if (parts.isEmpty()) {
            throw wrong(
                    place,
                    "key \"" + key + "\" has no value of the call, so all calls would share one lock",
                    "key = \"{0}\" for the first argument, or no key");
        }
        parts.add(new Part(literal(place, key, key.substring(end)), "", 0, List.of()));
        return new KeyTemplate(place, parts);
    }

    private static String literal(String place, String key, String text) {
        if (text.contains("{") || text.contains("}")) {
            throw wrong(place, "key \"" + key + "\" has a brace without its other", "for example key = \"{0}:{1.id}\"");
        }
        return text;
    }

    private static Part part(String place, Method method, String before, String written) {
        String[] path = written.strip().split("\\.", -1);
        int index = index(place, method, path[0]);
        Class<?> type = method.getParameterTypes()[index];
        List<MethodHandle> getters = new ArrayList<>();
        for (int i = 1; i < path.length; i++) {
            Method getter = getter(place, type, written, path[i]);
            try {
                getter.setAccessible(true);
                getters.add(MethodHandles.lookup().unreflect(getter));
            } catch (IllegalAccessException | InaccessibleObjectException e) {
                throw wrong(
                        place,
                        "{" + written + "}: " + type.getName() + " is closed to this library: " + e.getMessage(),
                        "a module that opens the package");
            }
            type = getter.getReturnType();
        }
        return new Part(before, written, index, getters);
    }

    private static int index(String place, Method method, String root) {
        Parameter[] parameters = method.getParameters();
        if (root.matches("\\d{1,3}")) {
            int index = Integer.parseInt(root);
            if (index < parameters.length) {
                return index;
            }
            throw wrong(
                    place,
                    "{" + root + "}, but the method has "
                            + (parameters.length == 0
                                    ? "no parameters"
                                    : parameters.length == 1 ? "one parameter" : parameters.length + " parameters"),
                    "{0} for the first");
        }
        List<String> names = new ArrayList<>();
        for (int i = 0; i < parameters.length; i++) {
            if (parameters[i].isNamePresent() && parameters[i].getName().equals(root)) {
                return i;
            }
            names.add(parameters[i].isNamePresent() ? "{" + parameters[i].getName() + "}" : "{" + i + "}");
        }
        boolean unnamed = parameters.length > 0 && !parameters[0].isNamePresent();
        throw wrong(
                place,
                unnamed
                        ? "{" + root + "}, but the class is compiled without the names of parameters"
                        : "there is no parameter {" + root + "}",
                unnamed
                        ? String.join(", ", names) + ", or the compiler option -parameters"
                        : names.isEmpty() ? "a parameter of this name" : String.join(" or ", names));
    }

    private static Method getter(String place, Class<?> type, String written, String property) {
        String upper = property.isEmpty() ? "" : Character.toUpperCase(property.charAt(0)) + property.substring(1);
        for (String name : List.of("get" + upper, "is" + upper, property)) {
            for (Method each : type.getMethods()) {
                if (each.getName().equals(name)
                        && each.getParameterCount() == 0
                        && !Modifier.isStatic(each.getModifiers())
                        && !each.isBridge()
                        && each.getReturnType() != void.class
                        && (!name.equals(property) || type.isRecord())) {
                    return each;
                }
            }
        }
        throw wrong(
                place,
                "{" + written + "}: " + type.getName() + " has no \"" + property + "\"",
                "a public getter, get" + upper + "(), or a record component");
    }

    /** Returns the key of a call. */
    String text(@Nullable Object[] arguments) {
        StringBuilder text = new StringBuilder();
        for (Part part : parts) {
            text.append(part.before);
            if (!part.written.isEmpty()) {
                text.append(value(part, arguments[part.index]));
            }
        }
        return text.toString();
    }

    private String value(Part part, @Nullable Object argument) {
        Object value = argument;
        for (MethodHandle getter : part.getters) {
            if (value == null) {
                break;
            }
            try {
                value = getter.invoke(value);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException(place + ": {" + part.written + "} failed", e);
            }
        }
        if (value instanceof Optional<?> optional) {
            value = optional.orElse(null);
        }
        if (value instanceof Collection<?>
                || value instanceof Map<?, ?>
                || (value != null && value.getClass().isArray())) {
            throw unfit(part, "has several elements", "one value");
        }
        String text = value == null ? "" : value.toString();
        if (text.isBlank()) {
            throw unfit(
                    part, value == null ? "is null" : "is empty", "a value; calls without one would all share a lock");
        }
        if (value != null && isIdentity(value, text)) {
            throw unfit(
                    part,
                    "is a " + value.getClass().getName() + ", which has no toString() of its own",
                    "a value whose text is the same in every process, for example an id");
        }
        return text;
    }

    /** Returns whether the text is that of {@link Object#toString}, which differs between processes. */
    static boolean isIdentity(Object value, String text) {
        return text.equals(value.getClass().getName() + "@" + Integer.toHexString(value.hashCode()));
    }

    private IllegalArgumentException unfit(Part part, String what, String expected) {
        return new IllegalArgumentException(
                place + ": {" + part.written + "} " + what + " (expected: " + expected + ")");
    }

    static DefinitionException wrong(String place, String what, String wayOut) {
        return new DefinitionException(place + ": " + what + " (expected: " + wayOut + ")");
    }
}
