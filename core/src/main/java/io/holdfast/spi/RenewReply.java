package io.holdfast.spi;

/**
 * The store's answer to a renewal.
 *
 * <pre>{@code
 * store.renew(request).thenAccept(reply -> {
 *     if (reply instanceof RenewReply.Gone) {
 *         lost(request.name());
 *     }
 * });
 * }</pre>
 */
public sealed interface RenewReply {

    /**
     * The holder id holds the name, for at least the requested time, or for less if {@code atMostMillis} is smaller. In
     * answer to a {@link RenewRequest#look} it promises no time.
     *
     * @param waiting how many clients wait in the store's queue; may be zero if the request did not ask for the count
     * @param atMostMillis how long the store promises the hold from the execution on, if that is less than the request
     *     asked for; otherwise {@link #AS_ASKED}
     */
    record Renewed(int waiting, long atMostMillis) implements RenewReply {

        /** The store promises the length that the request asked for. */
        public static final long AS_ASKED = Long.MAX_VALUE;

        public Renewed(int waiting) {
            this(waiting, AS_ASKED);
        }
    }

    /** The holder id does not hold the name: expired, taken, or removed by force. */
    record Gone() implements RenewReply {}

    /**
     * The holder id holds the name, but nothing changed and nothing is promised: a later exact setting, or this very
     * one, was executed before.
     */
    record Superseded() implements RenewReply {}
}
