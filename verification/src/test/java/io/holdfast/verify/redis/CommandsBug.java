package io.holdfast.verify.redis;

import java.util.ArrayList;
import java.util.List;

/** Possible bugs of mode {@code commands}. A test switches on one at a time, and must find it. */
public enum CommandsBug {
    NONE,

    /** A release is GET and DEL: nothing compares in between. */
    RELEASE_WITHOUT_COMPARISON,
    /** A renewal is a plain SET. */
    RENEWAL_WITHOUT_COMPARISON,
    /** Transactions on the connection that everybody uses. */
    WATCH_ON_THE_SHARED_CONNECTION,
    /** What is watched is forgotten, as on a connection that has come back. */
    WATCH_IS_FORGOTTEN,
    /** A lock is taken by SET without NX. */
    TAKES_WHAT_IS_HELD,
    /** A lock is taken by SET without PX. */
    LOCK_WITHOUT_EXPIRY,
    /** What was acquired, perhaps, is not withdrawn. */
    NOTHING_IS_WITHDRAWN,
    /** A release sends no message. */
    RELEASE_WAKES_NOBODY,
    /** Tokens by INCR alone, and the server forgets. */
    TOKENS_WITHOUT_THE_CLOCK,
    /** Tokens by the clock alone. */
    TOKENS_WITHOUT_THE_LAST,
    /** A renewal that finds nothing says that it has renewed. */
    RENEWS_WHAT_IS_GONE;

    /** What the server executes in place of a command. */
    List<String> changed(List<String> words) {
        List<String> changed = new ArrayList<>(words);
        String command = words.get(0);
        switch (this) {
            case RELEASE_WITHOUT_COMPARISON -> {
                if (command.equals("DELIFEQ") || command.equals("DELEX")) {
                    return List.of("DEL", words.get(1));
                }
                return command.equals("WATCH") ? List.of("PING") : words;
            }
            case WATCH_IS_FORGOTTEN -> {
                if (command.equals("WATCH")) {
                    return List.of("PING");
                }
            }
            case RENEWAL_WITHOUT_COMPARISON -> {
                if (command.equals("SET")) {
                    remove(changed, "IFEQ", 2);
                }
            }
            case TAKES_WHAT_IS_HELD -> remove(changed, "NX", 1);
            case LOCK_WITHOUT_EXPIRY -> {
                if (words.contains("NX")) {
                    remove(changed, "PX", 2);
                }
            }
            case RELEASE_WAKES_NOBODY -> {
                if (command.equals("PUBLISH")) {
                    return List.of("PUBLISH", "nobody", "0");
                }
            }
            default -> {}
        }
        return changed;
    }

    private static void remove(List<String> words, String option, int count) {
        int at = words.indexOf(option);
        if (at > 0) {
            words.subList(at, at + count).clear();
        }
    }
}
