package io.holdfast.jdbc;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.Names;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** Turns texts of any kind into values that every database compares in the same way. */
final class Keys {

    private static final int SHOWN_CHARS = 200;

    private static final Pattern TABLE =
            Pattern.compile("([A-Za-z_][A-Za-z0-9_]{0,62}\\.)?[A-Za-z_][A-Za-z0-9_]{0,62}");

    private Keys() {}

    /**
     * Returns the SHA-256 of a text in hexadecimal digits. A text itself is no key, because the rules of many databases
     * make {@code A} equal {@code a}, ignore blanks at the end, and limit the length.
     */
    static String of(String text) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }

    /** Returns the beginning of a text, for people, in characters that any database stores. */
    static String shown(String text) {
        String printable = Names.printable(text);
        if (printable.length() <= SHOWN_CHARS) {
            return printable;
        }
        int end = Character.isHighSurrogate(printable.charAt(SHOWN_CHARS - 1)) ? SHOWN_CHARS - 1 : SHOWN_CHARS;
        return printable.substring(0, end);
    }

    static String quoted(String text) {
        return '"' + shown(text) + '"';
    }

    /**
     * Returns a text that every database stores as it is.
     *
     * @throws IllegalArgumentException if it has half of a surrogate pair, which UTF-8 would write as a question mark,
     *     or a NUL, which PostgreSQL refuses
     */
    static String storable(String what, String text) {
        int point;
        for (int i = 0; i < text.length(); i += Character.charCount(point)) {
            point = text.codePointAt(i);
            if (point == 0 || Character.getType(point) == Character.SURROGATE) {
                throw new IllegalArgumentException(what + ": " + (point == 0 ? "a NUL" : "an unpaired surrogate")
                        + " at index " + i
                        + " (expected: text that every database stores, without NUL and without half of a surrogate"
                        + " pair)");
            }
        }
        return text;
    }

    /**
     * Returns a table name that can stand in a statement.
     *
     * @throws IllegalArgumentException if it is not a plain name
     */
    static String table(String name) {
        if (!TABLE.matcher(requireNonNull(name, "table")).matches()) {
            throw new IllegalArgumentException(
                    "table " + quoted(name)
                            + " (expected: letters, digits and _, at most 63, such as holdfast_guard or schema.holdfast_guard)");
        }
        return name;
    }
}
