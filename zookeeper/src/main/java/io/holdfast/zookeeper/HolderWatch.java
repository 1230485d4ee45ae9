package io.holdfast.zookeeper;

import org.jspecify.annotations.Nullable;

/**
 * Watches a holder's own node and what happens behind it, to notice when another client begins to wait or deletes the
 * holder's node. A hold that ends within milliseconds is not watched, and costs no request.
 *
 * <p>Only the work of the contender's {@link SerialQueue} uses it, except {@link #stop}.
 */
abstract class HolderWatch {

    static final long FIRST_LOOK_NANOS = 10_000_000;
    static final long AFTER_FAILURE_NANOS = 1_000_000_000;

    final Folder folder;
    final Runnable onDeleted;
    final StoppableTimer timer;

    private final StoreAccess store;
    private final String holderId;
    private final SerialQueue work;

    @Nullable
    Session session; // null while closed

    String node = "";

    /**
     * Counts the holder's nodes. A later node may have the same name, as numbers begin again in a new folder. So an
     * answer about one node says nothing about the next.
     */
    int which;

    /** @param onDeleted runs as work of the queue when another client has deleted the holder's node */
    HolderWatch(StoreAccess store, Folder folder, String holderId, SerialQueue work, Runnable onDeleted) {
        this.store = store;
        this.folder = folder;
        this.holderId = holderId;
        this.work = work;
        this.onDeleted = onDeleted;
        this.timer = new StoppableTimer(store.time());
    }

    /**
     * Begins to watch, or continues.
     *
     * @param waiting the number of waiting clients, as far as the holder already knows
     */
    abstract void begin(Session session, String node, int waiting);

    /** Ends the watch: the node is gone. */
    abstract void close();

    /** Stops for good: a later answer has no effect. May be called on any thread. */
    final void stop() {
        timer.stop();
    }

    /** Runs a step as work of the queue, unless the node that it is about is not watched any more by then. */
    final void inTurn(int asking, Runnable step) {
        work.addTask(() -> {
            if (session != null && !timer.isStopped() && asking == which) {
                step.run();
            }
        });
    }

    /** Runs a step after this time, as {@link #inTurn} does. */
    final void inTurnAfter(long nanos, Runnable step) {
        int asking = which;
        timer.set(nanos, () -> inTurn(asking, step));
    }

    final void tellContended() {
        store.tell(listener -> listener.contended(folder.name(), holderId));
    }
}
