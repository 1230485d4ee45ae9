package io.holdfast.cli.screen;

/** The emphasis of a piece of text. Without colors there is none: the words say everything. */
public enum Tone {
    PLAIN(""),
    STRONG("1"),
    DIM("2"),
    GOOD("32"),
    WARN("33"),
    BAD("1;31"),
    CHOSEN("7");

    private final String code;

    Tone(String code) {
        this.code = code;
    }

    /** Returns the text in this tone; unchanged if there are no colours. */
    public String of(String text, boolean colours) {
        return !colours || code.isEmpty() || text.isEmpty() ? text : "\u001b[" + code + "m" + text + "\u001b[0m";
    }
}
