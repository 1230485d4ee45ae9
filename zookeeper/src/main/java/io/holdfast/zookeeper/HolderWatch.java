package io.holdfast.zookeeper;

/**
 * Watches a holder's own node and what happens behind it, to notice when another client begins to wait or deletes the
 * holder's node. A hold that ends within milliseconds is not watched, and costs no request.
 *
 * <p>Only the work of the contender's {@link SerialQueue} uses it, except {@link #stop}.
 */
abstract class HolderWatch {

    static final long FIRST_LOOK_NANOS = 10_000_000;
    static final long AFTER_FAILURE_NANOS = 1_000_000_000;

    /**
     * Begins to watch, or continues.
     *
     * @param waiting the number of waiting clients, as far as the holder already knows
     */
    abstract void begin(Session session, String node, int waiting);

    /** Ends the watch: the node is gone. */
    abstract void close();

    /** Stops for good: a later answer has no effect. May be called on any thread. */
    abstract void stop();
}
