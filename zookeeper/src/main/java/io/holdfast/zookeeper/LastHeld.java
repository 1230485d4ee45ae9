package io.holdfast.zookeeper;

import io.holdfast.spi.TimeSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The nodes with which this client held names last, from which it tells that its next node is alone in a folder.
 *
 * <p>The servers number the nodes of a folder in the order of their creation. A node that was the first and is gone,
 * and a new node with the next number: nobody made a node in between, so the new node is alone. That is true only in
 * the same folder. In a new folder, numbers begin at zero, and each node takes a transaction of its own. So there were
 * more transactions since the old node than the old number, or it is the same folder.
 *
 * <p>Thread-safe.
 */
final class LastHeld {

    /** Names that are used in turn are few. Each takes some hundred bytes here. */
    private static final int KEPT = 128;

    /** A create without a look that has to look afterwards takes another round trip. */
    private static final long FRESH_NANOS = 1_000_000_000;

    /**
     * A node that was the first of its folder.
     *
     * @param number at the end of its name
     * @param zxid of its creation
     * @param followed whether it was made directly after the node that this client had there before
     */
    record Node(long number, long zxid, boolean followed) {

        /** Returns whether a node of the same client that is made after the deletion of this node is alone. */
        boolean isFollowedBy(long number, long zxid) {
            return number == this.number + 1 && zxid - this.zxid <= this.number;
        }
    }

    private record Left(Node node, long nanos) {}

    private final TimeSource time;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Left> byPath = new LinkedHashMap<>() { // by lock
                @Override
                protected boolean removeEldestEntry(Map.Entry<String, Left> eldest) {
                    return size() > KEPT;
                }
            };

    LastHeld(TimeSource time) {
        this.time = time;
    }

    /** Notes that a node which was the first is certainly gone. */
    void left(Folder folder, Node node) {
        // Near the last number, clients themselves replace a folder: a look decides there.
        if (node.number() < QueueSnapshot.LIMIT / 2) {
            lock.lock();
            try {
                byPath.put(folder.path(), new Left(node, time.nanoTime()));
            } finally {
                lock.unlock();
            }
        }
    }

    /** Returns the last node, but only once; null if there was none lately. */
    @Nullable
    Node take(Folder folder) {
        lock.lock();
        try {
            Left left = byPath.remove(folder.path());
            return left == null || time.nanoTime() - left.nanos() > FRESH_NANOS ? null : left.node();
        } finally {
            lock.unlock();
        }
    }
}
