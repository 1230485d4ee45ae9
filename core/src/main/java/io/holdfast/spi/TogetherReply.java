package io.holdfast.spi;

import java.util.List;

/**
 * The store's answer to an attempt to take several names by one command.
 *
 * @param granted one for each request, in their order; empty if nothing was taken
 * @param busy if nothing was taken: one of the names that are held, or waited for; otherwise empty
 */
public record TogetherReply(List<AcquireReply.Granted> granted, String busy) {

    public TogetherReply {
        granted = List.copyOf(granted);
    }

    /** All are held now. */
    public static TogetherReply taken(List<AcquireReply.Granted> granted) {
        return new TogetherReply(granted, "");
    }

    /** Nothing has changed, because of this name. */
    public static TogetherReply busy(String name) {
        return new TogetherReply(List.of(), name);
    }

    /** Whether all are held now; otherwise none is. */
    public boolean isTaken() {
        return !granted.isEmpty();
    }
}
