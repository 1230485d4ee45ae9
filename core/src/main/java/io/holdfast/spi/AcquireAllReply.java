package io.holdfast.spi;

import java.util.List;

/**
 * The store's answer to an attempt to take several names by one command.
 *
 * @param granted one for each request, in their order; empty if nothing was taken
 * @param busy if nothing was taken: one of the names that are held, or waited for; otherwise empty
 * @param remainingMillis how long the hold on that name lasts if it is not renewed; {@link
 *     AcquireReply.Busy#NO_EXPIRY} if it has no end; 0 if that is not known
 */
public record AcquireAllReply(List<AcquireReply.Granted> granted, String busy, long remainingMillis) {

    public AcquireAllReply {
        granted = List.copyOf(granted);
    }

    /** All are held now. */
    public static AcquireAllReply taken(List<AcquireReply.Granted> granted) {
        return new AcquireAllReply(granted, "", 0);
    }

    /** Nothing has changed, because of this name. */
    public static AcquireAllReply busy(String name) {
        return busy(name, 0);
    }

    /** Nothing has changed, because of this name, whose hold lasts for so long. */
    public static AcquireAllReply busy(String name, long remainingMillis) {
        return new AcquireAllReply(List.of(), name, remainingMillis);
    }

    /** Whether the name that is held may never become free. */
    public boolean isEndless() {
        return remainingMillis == AcquireReply.Busy.NO_EXPIRY;
    }

    /** Whether all are held now; otherwise none is. */
    public boolean isTaken() {
        return !granted.isEmpty();
    }
}
