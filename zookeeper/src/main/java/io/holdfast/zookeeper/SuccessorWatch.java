package io.holdfast.zookeeper;

import io.holdfast.zookeeper.Watches.Report;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/**
 * Watches for the holder of a lock. While no client waits, the folder is watched. While clients wait, the own node and
 * the next one are watched, so that the holder does not receive an event for every client that comes and goes.
 *
 * <p>Only the work of the contender's {@link SerialQueue} uses it, except {@link #stop}.
 */
final class SuccessorWatch extends HolderWatch {

    private static final long NEXT_LOOK_NANOS = 50_000_000;

    private int waiting;
    private boolean looked; // whether a look was sent
    private boolean seenWaiters;
    private long newest; // if so, the number of the last of them
    private boolean lookedAtWaiters;
    private boolean ownWatched;
    private String next = ""; // the node behind ours
    private String watchedNext = "";
    private Runnable unwatchOwn = () -> {};
    private Runnable unwatchNext = () -> {};

    /** @param onDeleted runs as work of the queue when another client has deleted the holder's node */
    SuccessorWatch(StoreAccess store, Folder folder, String holderId, SerialQueue work, Runnable onDeleted) {
        super(store, folder, holderId, work, onDeleted);
    }

    @Override
    void begin(Session session, String node, int waiting) {
        if (timer.isStopped()) {
            return;
        }
        if (this.session != null && this.node.equals(node)) {
            if (!looked && this.waiting == 0 && waiting > 0) {
                // The result of the first look is already known.
                timer.cancel();
                lookedAtWaiters = true;
                inTurnAfter(NEXT_LOOK_NANOS, this::look);
            }
            this.waiting = Math.max(this.waiting, waiting);
            return;
        }
        this.session = session;
        this.node = node;
        which++;
        this.waiting = waiting;
        looked = false;
        seenWaiters = false;
        lookedAtWaiters = waiting > 0;
        unwatch();
        inTurnAfter(waiting == 0 ? FIRST_LOOK_NANOS : NEXT_LOOK_NANOS, this::look);
    }

    @Override
    void close() {
        session = null;
        timer.cancel();
        unwatch();
    }

    private void unwatch() {
        ownWatched = false;
        watchedNext = "";
        unwatchOwn.run();
        unwatchNext.run();
    }

    private void look() {
        Session now = session;
        if (now == null) {
            return;
        }
        looked = true;
        boolean watched = waiting == 0;
        int asking = which;
        Watcher onChange = Watches.watcher(report -> inTurn(asking, this::look));
        CompletionStage<QueueSnapshot> asked = folder.look(now, watched ? onChange : null);
        asked.whenComplete((queue, error) -> inTurn(asking, () -> seen(now, queue, watched)));
    }

    /** @param queue the queue, or null if the look failed */
    private void seen(Session now, @Nullable QueueSnapshot queue, boolean watched) {
        if (queue == null) {
            inTurnAfter(AFTER_FAILURE_NANOS, this::look);
            return;
        }
        if (queue.indexOf(node.substring(node.lastIndexOf('/') + 1)) < 0) {
            onDeleted.run();
            return;
        }
        boolean begun = waiting == 0;
        waiting = queue.waiting();
        if (waiting == 0) {
            if (!watched) {
                look();
            }
            return;
        }
        next = queue.node(1);
        // The clients that waited at the last look may have left, and others may have come.
        begun |= seenWaiters && queue.number(1) > newest;
        seenWaiters = true;
        newest = queue.number(waiting);
        if (begun) {
            tellContended();
        }
        if (lookedAtWaiters) {
            watchNeighbours(now);
        } else {
            lookedAtWaiters = true;
            inTurnAfter(NEXT_LOOK_NANOS, this::look);
        }
    }

    private void watchNeighbours(Session now) {
        int asking = which;
        if (!ownWatched) {
            ownWatched = true;
            unwatchOwn = watch(now, node, asking, report -> {
                ownWatched = false;
                lookAfter(report);
            });
        }
        if (!next.equals(watchedNext)) {
            String watching = next;
            watchedNext = watching;
            unwatchNext.run();
            unwatchNext = watch(now, folder.path(watching), asking, report -> {
                if (watching.equals(watchedNext)) {
                    watchedNext = "";
                    lookAfter(report);
                }
            });
        }
    }

    private Runnable watch(Session now, String path, int asking, Consumer<Report> told) {
        return now.childWatches().await(path, report -> inTurn(asking, () -> told.accept(report)), nodes -> {});
    }

    private void lookAfter(Report report) {
        if (report == Report.UNWATCHED) {
            // An immediate look would fail too.
            inTurnAfter(AFTER_FAILURE_NANOS, this::look);
        } else {
            look();
        }
    }
}
