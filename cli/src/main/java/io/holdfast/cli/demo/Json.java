package io.holdfast.cli.demo;

import java.util.Map;
import java.util.stream.Collectors;

/** Writes JSON: maps, collections, strings, numbers and booleans. */
final class Json {

    private Json() {}

    static String text(Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(entry -> quoted(entry.getKey().toString()) + ":" + text(entry.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof Iterable<?> values) {
            StringBuilder text = new StringBuilder("[");
            for (Object one : values) {
                text.append(text.length() == 1 ? "" : ",").append(text(one));
            }
            return text.append(']').toString();
        }
        return value instanceof Number || value instanceof Boolean ? value.toString() : quoted(value.toString());
    }

    /** ASCII only, so that it survives every locale. */
    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
