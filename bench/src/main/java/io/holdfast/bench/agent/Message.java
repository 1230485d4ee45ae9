package io.holdfast.bench.agent;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** One line between parent and child: a word, then {@code key=value} pairs, percent-encoded. Immutable. */
public record Message(String verb, Map<String, String> fields) {

    public Message {
        fields = Map.copyOf(fields);
    }

    public static Message of(String verb) {
        return new Message(verb, Map.of());
    }

    /** Returns this message with one more field. */
    public Message with(String key, Object value) {
        Map<String, String> more = new LinkedHashMap<>(fields);
        more.put(key, String.valueOf(value));
        return new Message(verb, more);
    }

    public static Message parse(String line) {
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

    public String line() {
        StringBuilder line = new StringBuilder(verb);
        fields.forEach((key, value) ->
                line.append(' ').append(key).append('=').append(URLEncoder.encode(value, StandardCharsets.UTF_8)));
        return line.toString();
    }

    public String text(String key) {
        String value = fields.get(key);
        if (value == null) {
            throw new IllegalArgumentException(key + ": missing in \"" + line() + "\"");
        }
        return value;
    }

    public long number(String key) {
        return Long.parseLong(text(key));
    }

    public int count(String key) {
        return Integer.parseInt(text(key));
    }

    public boolean flag(String key) {
        return Boolean.parseBoolean(fields.getOrDefault(key, "false"));
    }
}
