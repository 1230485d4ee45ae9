package io.holdfast.zookeeper;

import io.holdfast.zookeeper.Watches.Report;
import java.util.regex.Pattern;

/**
 * Watches for the holder of a pool. Its neighbours come and go without concern to it, and all holders would look when
 * one of them does. So each watches its own node, and the folder's data, which a waiter writes that they are to hear of
 * ({@link OwnNode#announce}).
 *
 * <p>Only the work of the contender's {@link SerialQueue} uses it, except {@link #stop}.
 */
final class PoolHolderWatch extends HolderWatch {

    private static final Pattern NUMBER = Pattern.compile("\\d{1,10}");

    private long newest; // the number of the last waiter that was told; before that, of the own node
    private boolean ownWatched;
    private boolean folderWatched;
    private Runnable unwatchOwn = () -> {};
    private Runnable unwatchFolder = () -> {};

    /** @param onDeleted runs as work of the queue when another client has deleted the holder's node */
    PoolHolderWatch(StoreAccess store, Folder folder, String holderId, SerialQueue work, Runnable onDeleted) {
        super(store, folder, holderId, work, onDeleted);
    }

    @Override
    void begin(Session session, String node, int waiting) {
        if (timer.isStopped() || (this.session != null && this.node.equals(node))) {
            return;
        }
        close();
        this.session = session;
        this.node = node;
        newest = QueueSnapshot.number(node);
        inTurnAfter(FIRST_LOOK_NANOS, this::watch);
    }

    @Override
    void close() {
        session = null;
        which++;
        timer.cancel();
        ownWatched = false;
        folderWatched = false;
        unwatchOwn.run();
        unwatchFolder.run();
    }

    private void watch() {
        Session now = session;
        if (now == null) {
            return;
        }
        int asking = which;
        if (!ownWatched) {
            ownWatched = true;
            unwatchOwn = now.childWatches().await(node, report -> inTurn(asking, () -> ownGone(report)), nodes -> {});
        }
        if (!folderWatched) {
            folderWatched = true;
            unwatchFolder = now.dataWatches()
                    .await(
                            folder.path(),
                            report -> inTurn(asking, () -> folderWritten(report)),
                            read -> inTurn(asking, () -> readFolder(read.data())));
        }
    }

    private void ownGone(Report report) {
        ownWatched = false;
        if (report == Report.UNWATCHED) {
            inTurnAfter(AFTER_FAILURE_NANOS, this::watch);
        } else {
            onDeleted.run();
        }
    }

    private void folderWritten(Report report) {
        folderWatched = false;
        if (report == Report.UNWATCHED) {
            // An immediate look would fail too.
            inTurnAfter(AFTER_FAILURE_NANOS, this::watch);
        } else {
            watch();
        }
    }

    /** @param data the number of the node that was announced last; empty if none was in this folder */
    private void readFolder(String data) {
        long announced = NUMBER.matcher(data).matches() ? Long.parseLong(data) : 0;
        if (announced > newest) {
            newest = announced;
            tellContended();
        }
    }
}
