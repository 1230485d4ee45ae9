package io.holdfast.redis.commands;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.regex.Pattern;

/**
 * Reads the value of a lock key, and decides what of it people see. {@code holders.lua} follows the same rules.
 *
 * <p>Invariant: of data that is no lock, only type and size are shown. It belongs to the application, and may be a
 * secret.
 */
public final class Holders {

    /** A hash with more fields is no lock, and is not read as a whole. */
    static final int FIELDS_MAX = 64;

    private static final Pattern OURS = Pattern.compile("hf-[A-Za-z0-9_-]+:[0-9a-z]+(~[A-Za-z0-9]+)?");
    private static final Pattern REDISSONS = Pattern.compile("[0-9a-fA-F]+(-[0-9a-fA-F]+){4}:\\d+(:write)?");

    private Holders() {}

    /** Returns whether a text is a holder id of Holdfast. */
    static boolean isOurs(String text) {
        return OURS.matcher(text).matches();
    }

    /** Returns whether a field of a hash is a hold of Holdfast or of Redisson. */
    static boolean isHold(String field) {
        return isOurs(field) || REDISSONS.matcher(field).matches();
    }

    /** Returns whether a field of a hash belongs to a lock: a hold, or a field beside it. */
    static boolean isLocks(String field) {
        return isHold(field) || field.equals("mode");
    }

    /** Returns the text to show for a string that holds. */
    static String inString(String value, boolean expires) {
        String holder = CommandsHold.holder(value);
        return isOurs(holder)
                ? holder
                : expires ? "a string of " + value.getBytes(UTF_8).length + " bytes with an expiry" : ofType("string");
    }

    /** Returns the text to show for a key that is no lock. */
    static String ofType(String type) {
        return "a " + type + " that is no lock";
    }
}
