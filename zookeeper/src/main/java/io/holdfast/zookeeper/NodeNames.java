package io.holdfast.zookeeper;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;

/**
 * Encodes any text as the name of one node, and decodes it. Letters, digits and some signs stay; everything else is
 * percent-encoded UTF-8. Half a surrogate pair, which has no UTF-8, is {@code %u} and four digits.
 */
final class NodeNames {

    private static final HexFormat ESCAPES = HexFormat.of().withUpperCase().withPrefix("%");
    private static final String PLAIN = "-_.:@=+,!";

    private NodeNames() {}

    static String encode(String text) {
        if (text.equals(".") || text.equals("..")) {
            return text.replace(".", "%2E");
        }
        StringBuilder encoded = new StringBuilder(text.length() + 8);
        for (int i = 0; i < text.length(); ) {
            int point = text.codePointAt(i);
            i += Character.charCount(point);
            if (isPlain(point)) {
                encoded.append((char) point);
            } else if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
                encoded.append(String.format(Locale.ROOT, "%%u%04X", point));
            } else {
                encoded.append(ESCAPES.formatHex(Character.toString(point).getBytes(StandardCharsets.UTF_8)));
            }
        }
        return encoded.toString();
    }

    /** Throws {@link IllegalArgumentException} if an escape is malformed. */
    static String decode(String text) {
        if (text.indexOf('%') < 0) {
            return text;
        }
        StringBuilder decoded = new StringBuilder(text.length());
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < text.length(); ) {
            if (text.startsWith("%u", i)) {
                flush(bytes, decoded);
                decoded.append((char) number(text, i + 2, 4));
                i += 6;
            } else if (text.charAt(i) == '%') {
                bytes.write(number(text, i + 1, 2));
                i += 3;
            } else {
                flush(bytes, decoded);
                decoded.append(text.charAt(i++));
            }
        }
        flush(bytes, decoded);
        return decoded.toString();
    }

    private static void flush(ByteArrayOutputStream bytes, StringBuilder decoded) {
        decoded.append(bytes.toString(StandardCharsets.UTF_8));
        bytes.reset();
    }

    private static int number(String text, int from, int digits) {
        if (from + digits > text.length()) {
            throw new IllegalArgumentException("Not an escape at " + from);
        }
        return HexFormat.fromHexDigits(text, from, from + digits);
    }

    private static boolean isPlain(int point) {
        return (point >= 'a' && point <= 'z')
                || (point >= 'A' && point <= 'Z')
                || (point >= '0' && point <= '9')
                || PLAIN.indexOf(point) >= 0;
    }
}
