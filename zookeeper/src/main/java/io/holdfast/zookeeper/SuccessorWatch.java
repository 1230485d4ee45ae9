package io.holdfast.zookeeper;

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

    private final StoreAccess store;
    private final Folder folder;
    private final String holderId;
    private final SerialQueue work;
    private final Runnable onDeleted;
    private final StoppableTimer timer;

    private @Nullable Session session; // null while closed
    private String node = "";

    /**
     * Counts the holder's nodes. A later node may have the same name, as numbers begin again in a new folder. So an
     * answer about one node says nothing about the next.
     */
    private int which;

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
        this.store = store;
        this.folder = folder;
        this.holderId = holderId;
        this.work = work;
        this.onDeleted = onDeleted;
        this.timer = new StoppableTimer(store.time());
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
                lookIn(NEXT_LOOK_NANOS);
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
        lookIn(waiting == 0 ? FIRST_LOOK_NANOS : NEXT_LOOK_NANOS);
    }

    @Override
    void close() {
        session = null;
        timer.cancel();
        unwatch();
    }

    @Override
    void stop() {
        timer.stop();
    }

    private void unwatch() {
        ownWatched = false;
        watchedNext = "";
        unwatchOwn.run();
        unwatchNext.run();
    }

    private void lookIn(long nanos) {
        int asking = which;
        timer.set(nanos, () -> inTurn(asking, this::look));
    }

    /** Runs a step as work of the queue, unless the node that it is about is not watched any more by then. */
    private void inTurn(int asking, Runnable step) {
        work.addTask(() -> {
            if (session != null && !timer.isStopped() && asking == which) {
                step.run();
            }
        });
    }

    private void look() {
        Session now = session;
        if (now == null) {
            return;
        }
        looked = true;
        boolean watched = waiting == 0;
        int asking = which;
        Watcher onChange = Watches.watcher(() -> inTurn(asking, this::look));
        CompletionStage<QueueSnapshot> asked = folder.look(now, watched ? onChange : null);
        asked.whenComplete((queue, error) -> inTurn(asking, () -> seen(now, queue, watched)));
    }

    /** @param queue the queue, or null if the look failed */
    private void seen(Session now, @Nullable QueueSnapshot queue, boolean watched) {
        if (queue == null) {
            lookIn(AFTER_FAILURE_NANOS);
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
            store.tell(listener -> listener.contended(folder.name(), holderId));
        }
        if (lookedAtWaiters) {
            watchNeighbours(now);
        } else {
            lookedAtWaiters = true;
            lookIn(NEXT_LOOK_NANOS);
        }
    }

    private void watchNeighbours(Session now) {
        int asking = which;
        if (!ownWatched) {
            ownWatched = true;
            unwatchOwn = watch(now, node, asking, gone -> {
                ownWatched = false;
                lookAgain(gone);
            });
        }
        if (!next.equals(watchedNext)) {
            String watching = next;
            watchedNext = watching;
            unwatchNext.run();
            unwatchNext = watch(now, folder.path(watching), asking, gone -> {
                if (watching.equals(watchedNext)) {
                    watchedNext = "";
                    lookAgain(gone);
                }
            });
        }
    }

    private Runnable watch(Session now, String path, int asking, Consumer<Boolean> deleted) {
        return now.childWatches().await(path, gone -> inTurn(asking, () -> deleted.accept(gone)), nodes -> {});
    }

    /** @param gone false if a node could not be watched: an immediate look would fail too */
    private void lookAgain(boolean gone) {
        if (gone) {
            look();
        } else {
            lookIn(AFTER_FAILURE_NANOS);
        }
    }
}
