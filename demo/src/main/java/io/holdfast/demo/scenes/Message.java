package io.holdfast.demo.scenes;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A request or a reply of the demonstration: one line of text, {@code verb key=value key=value}, with values
 * percent-encoded.
 */
record Message(String verb, Map<String, String> fields) {

    /** @param keysAndValues a key, its value, the next key… */
    static Message of(String verb, Object... keysAndValues) {
        Map<String, String> fields = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            fields.put(keysAndValues[i].toString(), keysAndValues[i + 1].toString());
        }
        return new Message(verb, fields);
    }

    static Message parse(String line) {
        String[] words = line.split(" ", -1);
        Map<String, String> fields = new LinkedHashMap<>();
        for (int i = 1; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            fields.put(
                    words[i].substring(0, equals),
                    URLDecoder.decode(words[i].substring(equals + 1), StandardCharsets.UTF_8));
        }
        return new Message(words[0], fields);
    }

    String line() {
        StringBuilder line = new StringBuilder(verb);
        fields.forEach((key, value) ->
                line.append(' ').append(key).append('=').append(URLEncoder.encode(value, StandardCharsets.UTF_8)));
        return line.toString();
    }

    Message with(String key, Object value) {
        Map<String, String> more = new LinkedHashMap<>(fields);
        more.put(key, value.toString());
        return new Message(verb, more);
    }

    boolean has(String key) {
        return fields.containsKey(key);
    }

    String text(String key) {
        return Objects.requireNonNull(fields.get(key), () -> verb + " without " + key);
    }

    long number(String key) {
        return Long.parseLong(text(key));
    }

    int count(String key) {
        return Math.toIntExact(number(key));
    }

    boolean isTrue(String key) {
        return Boolean.parseBoolean(text(key));
    }
}
