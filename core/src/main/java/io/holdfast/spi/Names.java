package io.holdfast.spi;

/**
 * Shows lock names and holders in messages. A name may be any text, even one that a stranger chose.
 *
 * <pre>{@code
 * log.warn("The lock {} has no expiry", Names.printable(name));
 * }</pre>
 */
public final class Names {

    private Names() {}

    /**
     * Returns the text in a form that is safe in a line of a log and on a terminal. Control characters, line and
     * paragraph separators, invisible format characters and halves of a surrogate pair are written as in a Java literal,
     * for example a line feed as <code>&#92;u000a</code>. Other text is returned unchanged. For people: two texts may
     * look the same.
     */
    public static String printable(String text) {
        for (int i = 0; i < text.length(); ) {
            int codePoint = text.codePointAt(i);
            if (isHidden(codePoint)) {
                return escaped(text, i);
            }
            i += Character.charCount(codePoint);
        }
        return text;
    }

    private static String escaped(String text, int from) {
        StringBuilder escaped = new StringBuilder(text.length() + 16).append(text, 0, from);
        text.substring(from).codePoints().forEach(codePoint -> {
            if (isHidden(codePoint)) {
                for (char c : Character.toChars(codePoint)) {
                    escaped.append(String.format("\\u%04x", (int) c));
                }
            } else {
                escaped.appendCodePoint(codePoint);
            }
        });
        return escaped.toString();
    }

    private static boolean isHidden(int codePoint) {
        int type = Character.getType(codePoint);
        return type == Character.CONTROL
                || type == Character.FORMAT
                || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR
                || type == Character.SURROGATE;
    }
}
