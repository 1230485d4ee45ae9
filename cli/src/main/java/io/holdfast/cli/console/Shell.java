package io.holdfast.cli.console;

import java.util.regex.Pattern;

/** Writes words as a POSIX shell reads them. */
public final class Shell {

    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

    private Shell() {}

    /** Returns the text as one word that a shell reads as this text. */
    public static String word(String text) {
        return PLAIN.matcher(text).matches() && !text.startsWith("-") && !text.startsWith("=")
                ? text
                : "'" + text.replace("'", "'\\''") + "'";
    }
}
