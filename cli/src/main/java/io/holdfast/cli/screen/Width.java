package io.holdfast.cli.screen;

import org.jline.utils.WCWidth;

/** Measures text in columns of a terminal: a Chinese character takes two, a combining accent none. */
public final class Width {

    private static final String CUT = "…";

    /** What is left of the end of a text that loses its middle: the largest process id of Linux, with its name. */
    private static final int END = "(pid 4194304)".length();

    private Width() {}

    /** Returns the number of columns that a text without control characters takes. */
    public static int of(String text) {
        return text.codePoints().map(Width::of).sum();
    }

    private static int of(int codePoint) {
        return Math.max(0, WCWidth.wcwidth(codePoint));
    }

    /** Returns the text if it fits, otherwise its beginning and an ellipsis, together at most that wide. */
    public static String cut(String text, int width) {
        if (of(text) <= width) {
            return text;
        }
        if (width <= 0) {
            return "";
        }
        StringBuilder kept = new StringBuilder();
        int used = 0;
        for (int codePoint : text.codePoints().toArray()) {
            used += of(codePoint);
            if (used > width - 1) {
                break;
            }
            kept.appendCodePoint(codePoint);
        }
        return kept.append(CUT).toString();
    }

    /** Returns the text if it fits, otherwise its beginning and its end with an ellipsis between them. */
    public static String cutMiddle(String text, int width) {
        if (of(text) <= width || width < END + CUT.length()) {
            return cut(text, width);
        }
        int begin = text.length();
        for (int used = 0; begin > 0; ) {
            int codePoint = text.codePointBefore(begin);
            used += of(codePoint);
            if (used > END) {
                break;
            }
            begin -= Character.charCount(codePoint);
        }
        String end = text.substring(begin);
        return cut(text.substring(0, begin), width - of(end)) + end;
    }

    /** Returns the text, filled with blanks to a width. */
    public static String pad(String text, int width, boolean toTheRight) {
        String blanks = " ".repeat(Math.max(0, width - of(text)));
        return toTheRight ? blanks + text : text + blanks;
    }
}
