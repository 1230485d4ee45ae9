package io.holdfast.verify.redis;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A model of what a Redis server keeps, with exactly the commands that mode {@code commands} sends about keys.
 * Whatever else is asked is not answered as a server would, but fails the test: what is not modelled is not verified.
 */
final class KeySpace {

    /** What servers differ in here. */
    enum Kind {
        REDIS_6(false, false, false),
        VALKEY_8(true, false, false),
        VALKEY_9(true, true, false),
        REDIS_8(true, false, true);

        final boolean setIfeq;
        final boolean delifeq;
        final boolean delex;

        Kind(boolean setIfeq, boolean delifeq, boolean delex) {
            this.setIfeq = setIfeq;
            this.delifeq = delifeq;
            this.delex = delex;
        }
    }

    /** A server's word that is no value, as OK. */
    record Status(String word) {}

    /** A server's refusal. */
    record Refusal(String said) {}

    /** A key's content: never changed, only replaced. */
    record Entry(String value, long expiresMillis) {
        private boolean isOver(long now) {
            return now > expiresMillis;
        }
    }

    private static final long NEVER = Long.MAX_VALUE;
    static final Status OK = new Status("OK");
    private static final Refusal SYNTAX = new Refusal("ERR syntax error");
    private static final Refusal NO_NUMBER = new Refusal("ERR value is not an integer or out of range");

    final Kind kind;
    private final Map<String, Entry> entries = new HashMap<>();

    /** Learns of each change; null: the key has gone. */
    private final BiConsumer<String, @Nullable Entry> changes;

    KeySpace(Kind kind, BiConsumer<String, @Nullable Entry> changes) {
        this.kind = kind;
        this.changes = changes;
    }

    /** What another had, at the failover to it. */
    void fill(Map<String, Entry> content) {
        entries.putAll(content);
    }

    /** Removes a key whose time is over, as every command on it does first. */
    void expire(String key, long now) {
        Entry entry = entries.get(key);
        if (entry != null && entry.isOver(now)) {
            remove(key);
        }
    }

    /** A string without looking at it as a command would; null if there is none that lasts. */
    @Nullable
    String peek(String key, long now) {
        Entry entry = entries.get(key);
        return entry == null || entry.isOver(now) ? null : entry.value;
    }

    /** Whether a server of this kind knows the command, by its name alone. */
    boolean knows(String command) {
        return switch (command) {
            case "DELIFEQ" -> kind.delifeq;
            case "DELEX" -> kind.delex;
            default -> true;
        };
    }

    /** A command on keys: a String, Long, List of these, {@link Status}, {@link Refusal}, or null. */
    @Nullable
    Object execute(List<String> words, long now) {
        String key = words.size() > 1 ? words.get(1) : "";
        expire(key, now);
        return switch (words.get(0)) {
            case "GET" -> get(key);
            case "SET" -> set(key, words, now);
            case "DEL" -> delete(words, now);
            case "DELIFEQ" -> deleteIfEqual(key, words.get(2));
            case "DELEX" -> {
                require(words.size() == 4 && words.get(2).equals("IFEQ"), words);
                yield deleteIfEqual(key, words.get(3));
            }
            case "PTTL" -> remaining(key, now);
            case "PEXPIRE" -> setExpiry(key, Long.parseLong(words.get(2)), now);
            case "TYPE" -> new Status(type(key));
            case "INCR" -> increment(key);
            case "TIME" -> List.of(Long.toString(now / 1_000), Long.toString(now % 1_000 * 1_000));
            default -> throw unmodelled(words);
        };
    }

    static AssertionError unmodelled(List<String> words) {
        return new AssertionError("The model of Redis has no " + String.join(" ", words));
    }

    private static void require(boolean known, List<String> words) {
        if (!known) {
            throw unmodelled(words);
        }
    }

    private void put(String key, String value, long expires) {
        Entry entry = new Entry(value, expires);
        entries.put(key, entry);
        changes.accept(key, entry);
    }

    private void remove(String key) {
        entries.remove(key);
        changes.accept(key, null);
    }

    private String type(String key) {
        Entry entry = entries.get(key);
        return entry == null ? "none" : "string";
    }

    private @Nullable String text(String key) {
        Entry entry = entries.get(key);
        return entry == null ? null : entry.value;
    }

    private @Nullable Object get(String key) {
        return text(key);
    }

    private @Nullable Object set(String key, List<String> words, long now) {
        boolean onlyNew = false;
        String expected = null;
        long expires = NEVER;
        for (int i = 3; i < words.size(); i++) {
            switch (words.get(i)) {
                case "NX" -> onlyNew = true;
                case "PX" -> expires = now + Long.parseLong(words.get(++i));
                case "IFEQ" -> expected = words.get(++i);
                default -> throw unmodelled(words);
            }
        }
        if (expected != null && !kind.setIfeq) {
            return SYNTAX;
        }
        if ((onlyNew && entries.containsKey(key)) || (expected != null && !expected.equals(text(key)))) {
            return null;
        }
        put(key, words.get(2), expires);
        return OK;
    }

    private Object delete(List<String> words, long now) {
        long deleted = 0;
        for (String key : words.subList(1, words.size())) {
            expire(key, now);
            if (entries.containsKey(key)) {
                remove(key);
                deleted++;
            }
        }
        return deleted;
    }

    private Object deleteIfEqual(String key, String expected) {
        if (!expected.equals(text(key))) {
            return 0L;
        }
        remove(key);
        return 1L;
    }

    private Object remaining(String key, long now) {
        Entry entry = entries.get(key);
        return entry == null ? -2L : entry.expiresMillis == NEVER ? -1L : entry.expiresMillis - now;
    }

    private Object setExpiry(String key, long millis, long now) {
        Entry entry = entries.get(key);
        if (entry == null) {
            return 0L;
        }
        if (millis <= 0) {
            remove(key);
        } else {
            put(key, entry.value, now + millis);
        }
        return 1L;
    }

    private Object increment(String key) {
        String text = text(key);
        if (text != null && !text.matches("-?(0|[1-9]\\d{0,17})")) {
            return NO_NUMBER;
        }
        Entry before = entries.get(key);
        long next = (text == null ? 0 : Long.parseLong(text)) + 1;
        put(key, Long.toString(next), before == null ? NEVER : before.expiresMillis);
        return next;
    }

    /** All keys that last and what is at them, to compare with a server. */
    Map<String, String> content(long now) {
        Map<String, String> content = new TreeMap<>();
        entries.forEach((key, entry) -> {
            if (!entry.isOver(now)) {
                content.put(key, entry.value);
            }
        });
        return content;
    }
}
