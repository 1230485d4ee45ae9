package io.holdfast.redis.server;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Percent-decoding of a part of a URI. Unlike {@link java.net.URLDecoder} it leaves {@code +} alone. */
public final class PercentEncoding {

    private PercentEncoding() {}

    /** Decodes UTF-8; throws {@link IllegalArgumentException} if an escape is malformed. */
    static String decode(String text) {
        if (text.indexOf('%') < 0) {
            return text;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        for (int i = 0; i < text.length(); ) {
            if (text.charAt(i) == '%') {
                bytes.write(digit(text, i + 1) * 16 + digit(text, i + 2));
                i += 3;
            } else {
                int end = text.indexOf('%', i);
                String plain = text.substring(i, end < 0 ? text.length() : end);
                bytes.writeBytes(plain.getBytes(StandardCharsets.UTF_8));
                i += plain.length();
            }
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private static int digit(String text, int index) {
        int digit = index < text.length() ? Character.digit(text.charAt(index), 16) : -1;
        if (digit < 0) {
            throw new IllegalArgumentException("Not an escape at " + index);
        }
        return digit;
    }
}
