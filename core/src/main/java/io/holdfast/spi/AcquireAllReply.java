package io.holdfast.spi;

import java.util.List;

/**
 * The store's answer to an attempt to take several names by one command.
 *
 * <pre>{@code
 * return AcquireAllReply.busy("order:42");                          // nothing was taken
 * return AcquireAllReply.taken(List.of(new Granted(base, 0)));      // the only name asked for was
 * }</pre>
 *
 * @param granted one grant for each request, in the order of the requests; empty if nothing was taken
 * @param busy if nothing was taken: one of the names that are held or have a queue; otherwise empty
 * @param remainingMillis how long the hold on that name lasts if it is not renewed; {@link
 *     AcquireReply.Busy#NO_EXPIRY} if it has no end; 0 if the store does not know
 */
public record AcquireAllReply(List<AcquireReply.Granted> granted, String busy, long remainingMillis) {

    public AcquireAllReply {
        granted = List.copyOf(granted);
    }

    /** Returns the answer that all names are held now. */
    public static AcquireAllReply taken(List<AcquireReply.Granted> granted) {
        return new AcquireAllReply(granted, "", 0);
    }

    /** Returns the answer that nothing was taken because of this name. */
    public static AcquireAllReply busy(String name) {
        return busy(name, 0);
    }

    /** Returns the answer that nothing was taken because of this name, whose hold lasts for this time. */
    public static AcquireAllReply busy(String name, long remainingMillis) {
        return new AcquireAllReply(List.of(), name, remainingMillis);
    }

    /** Returns whether the busy name may never become free. */
    public boolean isEndless() {
        return remainingMillis == AcquireReply.Busy.NO_EXPIRY;
    }

    /** Returns whether all names are held now; otherwise nothing was taken. */
    public boolean isTaken() {
        return !granted.isEmpty();
    }
}
