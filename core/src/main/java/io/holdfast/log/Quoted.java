package io.holdfast.log;

import io.holdfast.spi.Names;
import java.util.Collection;
import java.util.stream.Collectors;

/**
 * Writes names and holders in messages: in quotes, which show where they begin and end, and with escaped control
 * characters.
 */
public final class Quoted {

    private Quoted() {}

    public static String name(String name) {
        return '"' + Names.printable(name) + '"';
    }

    public static String names(Collection<String> names) {
        return names.stream().map(Quoted::name).collect(Collectors.joining(", "));
    }

    /** Returns a text of a message for the beginning of a sentence. */
    public static String atStart(String text) {
        return Character.toUpperCase(text.charAt(0)) + text.substring(1);
    }

    /** Returns a holder id in quotes, or a description of another holder, which has blanks, without quotes. */
    public static String holder(String holder) {
        return holder.indexOf(' ') < 0 ? name(holder) : Names.printable(holder);
    }
}
