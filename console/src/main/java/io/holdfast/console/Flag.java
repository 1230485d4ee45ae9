package io.holdfast.console;

/**
 * The first thing that an operator should know of a lock.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/command-line.md#top-all-locks-live">
 *     top: all locks, live</a>
 */
public enum Flag {
    /** The holder's client has not been heard of for more than three periods, while its hold still lasts. */
    DEAD("DEAD"),
    /** Threads of several clients wait for each other's locks, as seen in two looks and confirmed by the store. */
    CYCLE("CYCLE"),
    /** The key at the store has no expiry: nothing frees it but a release by hand. */
    NO_EXPIRY("NO EXPIRY"),
    /** The holder is no client of Holdfast. */
    FOREIGN("FOREIGN"),
    /** The lease has a length of its own and ends by then: it is not renewed while it is held. */
    NOT_RENEWED("NOT RENEWED");

    private final String text;

    Flag(String text) {
        this.text = text;
    }

    /** Returns the flag as people read it. */
    @Override
    public String toString() {
        return text;
    }
}
