package io.holdfast.cli.screen;

/**
 * A key that was pressed.
 *
 * @param character the character of a {@link Kind#CHARACTER}, otherwise 0
 */
public record Key(Kind kind, char character) {

    /** The keys that have a meaning. */
    public enum Kind {
        CHARACTER,
        UP,
        DOWN,
        PAGE_UP,
        PAGE_DOWN,
        ENTER,
        ESCAPE,
        BACKSPACE,
        /** The terminal is gone, or the user has pressed Ctrl-C. */
        END
    }

    /** Returns the key of a character. */
    public static Key of(char character) {
        return new Key(Kind.CHARACTER, character);
    }

    /** Returns a key without a character. */
    public static Key of(Kind kind) {
        return new Key(kind, '\0');
    }
}
