package io.holdfast.sql;

import io.holdfast.spi.Names;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The key of a name in the table. A name itself is no key: databases limit its length, and some make A equal a. */
final class LockKey {

    private static final int SHOWN_CHARS = 200;

    private LockKey() {}

    /** Returns the SHA-256 of a lock's name in hexadecimal digits. */
    static String of(String name) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            return HexFormat.of().formatHex(digest.digest(name.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }

    /** Returns the key of a pool, which no lock has: p is no hexadecimal digit. */
    static String ofPool(String name) {
        return "p" + of(name).substring(1);
    }

    /** Returns the beginning of a name, for people who look at the table. */
    static String shown(String name) {
        String printable = Names.printable(name);
        if (printable.length() <= SHOWN_CHARS) {
            return printable;
        }
        int end = Character.isHighSurrogate(printable.charAt(SHOWN_CHARS - 1)) ? SHOWN_CHARS - 1 : SHOWN_CHARS;
        return printable.substring(0, end);
    }
}
