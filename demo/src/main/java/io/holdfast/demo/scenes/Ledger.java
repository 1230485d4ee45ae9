package io.holdfast.demo.scenes;

import java.util.ArrayList;
import java.util.List;

/**
 * A resource that guards itself by fencing tokens: it refuses a write with a token smaller than it has seen.
 * Thread-safe.
 */
final class Ledger {

    private final List<String> lines = new ArrayList<>(); // guarded by this
    private long largestToken; // guarded by this

    /** Returns whether the write was accepted. */
    synchronized boolean write(long token, String line) {
        if (token < largestToken) {
            return false;
        }
        largestToken = token;
        lines.add(line);
        return true;
    }

    synchronized List<String> lines() {
        return List.copyOf(lines);
    }
}
