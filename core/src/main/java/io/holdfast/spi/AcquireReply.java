package io.holdfast.spi;

/**
 * The store's answer to an acquire.
 *
 * <pre>{@code
 * store.acquire(request).thenAccept(reply -> {
 *     if (reply instanceof AcquireReply.Busy busy) {
 *         log.info("{} has the lock for {} ms more", busy.holder(), busy.remainingMillis());
 *     }
 * });
 * }</pre>
 */
public sealed interface AcquireReply {

    /**
     * The holder id holds the name.
     *
     * @param base the base of this hold's fencing tokens: larger than that of every earlier hold on the name, at most
     *     2<sup>49</sup> − 1
     * @param waiting roughly how many clients wait behind it; zero if none does
     * @param atMostMillis how long the store promises the hold from the execution on, if that is less than the request
     *     asked for; otherwise {@link #AS_ASKED}
     */
    record Granted(long base, int waiting, long atMostMillis) implements AcquireReply {

        /** The store promises the length that the request asked for. */
        public static final long AS_ASKED = Long.MAX_VALUE;

        public Granted(long base, int waiting) {
            this(base, waiting, AS_ASKED);
        }

        /** Returns the answer that the id holds the name, of a store that does not know for how long. */
        public static Granted withoutPromise(long base) {
            return new Granted(base, 0, 0);
        }
    }

    /**
     * Another id holds the name, or is before this id in the queue.
     *
     * @param remainingMillis how long the present hold lasts if it is not renewed; {@link #NO_EXPIRY} if it has no end
     * @param ahead how many entries of the queue are before this id, or all of them if this id is not in the queue. The
     *     number may count dead entries, but it is zero if no live one is before this id
     * @param holder for people: the holder, as the store shows it; a text in parentheses if the store knows no holder
     */
    record Busy(long remainingMillis, int ahead, String holder) implements AcquireReply {

        /** The key at the store has no expiry, so it is not a lock of this or a compatible library. */
        public static final long NO_EXPIRY = -1;
    }
}
