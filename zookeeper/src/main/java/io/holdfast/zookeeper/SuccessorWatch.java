package io.holdfast.zookeeper;

import io.holdfast.spi.TimeSource;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * What a holder sees of its own node and of those behind it: that somebody begins to wait, and that its node was deleted.
 *
 * <p>A hold that is over within milliseconds does without: it costs no request. After that, while nobody waits, the folder
 * is watched; while somebody waits, the own node and the next one are, so that it does not hear of all who come and go.
 *
 * <p>All but {@link #stop} runs in the contender's turn.
 */
final class SuccessorWatch {

    private static final long FIRST_LOOK_NANOS = 10_000_000;
    private static final long NEXT_LOOK_NANOS = 50_000_000;
    private static final long AFTER_FAILURE_NANOS = 1_000_000_000;

    private final Folder folder;
    private final String holderId;
    private final Consumer<Runnable> turn;

    private @Nullable Session session; // null while closed
    private String node = "";

    /**
     * Which of its nodes that is, counted. A later one may have the same name, as numbers begin anew with a new folder. So what
     * was asked while there was one node says nothing about the next.
     */
    private int which;

    private Runnable lost = () -> {};
    private int waiting;
    private boolean looked; // whether a look was sent
    private boolean seenWaiters;
    private int newest; // if so, the number of the last of them
    private boolean lookedAtWaiters;
    private boolean ownWatched;
    private String next = ""; // the node behind ours
    private String watchedNext = "";
    private Runnable unwatchOwn = () -> {};
    private Runnable unwatchNext = () -> {};
    private boolean open;
    private volatile boolean stopped;
    private volatile TimeSource.@Nullable Timer timer;

    SuccessorWatch(Folder folder, String holderId, Consumer<Runnable> turn) {
        this.folder = folder;
        this.holderId = holderId;
        this.turn = turn;
    }

    /**
     * Begins to look, or goes on.
     *
     * @param waiting how many wait, as far as the holder knows already
     */
    void begin(Session session, String node, int waiting, Runnable lost) {
        if (stopped) {
            return;
        }
        if (open && this.node.equals(node)) {
            if (!looked && this.waiting == 0 && waiting > 0) {
                // What the first look is for is known already.
                cancel();
                lookedAtWaiters = true;
                lookIn(NEXT_LOOK_NANOS);
            }
            this.waiting = Math.max(this.waiting, waiting);
            return;
        }
        this.session = session;
        this.node = node;
        which++;
        this.lost = lost;
        this.waiting = waiting;
        looked = false;
        seenWaiters = false;
        lookedAtWaiters = waiting > 0;
        unwatch();
        open = true;
        lookIn(waiting == 0 ? FIRST_LOOK_NANOS : NEXT_LOOK_NANOS);
    }

    void close() {
        open = false;
        session = null;
        cancel();
        unwatch();
    }

    /** For good: what is answered later begins nothing. */
    void stop() {
        stopped = true;
        cancel();
    }

    private void unwatch() {
        ownWatched = false;
        watchedNext = "";
        unwatchOwn.run();
        unwatchNext.run();
    }

    private void cancel() {
        TimeSource.Timer armed = timer;
        if (armed != null) {
            armed.cancel();
        }
    }

    private void lookIn(long nanos) {
        if (stopped) {
            return;
        }
        int asking = which;
        timer = folder.time().schedule(nanos, () -> inTurn(asking, this::look));
        if (stopped) {
            cancel();
        }
    }

    /** Does something about a node in the contender's turn, unless that one is not looked after any more by then. */
    private void inTurn(int asking, Runnable work) {
        turn.accept(() -> {
            if (open && !stopped && asking == which) {
                work.run();
            }
        });
    }

    private void look() {
        Session now = session;
        if (!open || now == null) {
            return;
        }
        looked = true;
        boolean watched = waiting == 0;
        int asking = which;
        CompletionStage<List<String>> listed =
                now.children(folder.path(), watched ? folder.onChange(() -> inTurn(asking, this::look)) : null);
        listed.whenComplete((nodes, error) -> inTurn(asking, () -> seen(now, nodes, error, watched)));
    }

    private void seen(Session now, @Nullable List<String> nodes, @Nullable Throwable error, boolean watched) {
        if (nodes == null && !ZooKeeperErrors.is(java.util.Objects.requireNonNull(error), Code.NONODE)) {
            lookIn(AFTER_FAILURE_NANOS);
            return;
        }
        QueueSnapshot line = QueueSnapshot.of(nodes == null ? List.of() : nodes);
        if (line.indexOf(node.substring(node.lastIndexOf('/') + 1)) < 0) {
            lost.run();
            return;
        }
        boolean begun = waiting == 0;
        waiting = line.waiting();
        if (waiting == 0) {
            if (!watched) {
                look();
            }
            return;
        }
        next = line.node(1);
        // Those who were there at the last look may have gone, and others come.
        begun |= seenWaiters && line.number(1) - newest > 0;
        seenWaiters = true;
        newest = line.number(waiting);
        if (begun) {
            folder.listener().contended(folder.name(), holderId);
        }
        if (lookedAtWaiters) {
            watchNeighbours(now);
        } else {
            lookedAtWaiters = true;
            lookIn(NEXT_LOOK_NANOS);
        }
    }

    private void watchNeighbours(Session now) {
        if (!open || session != now || waiting == 0) {
            return;
        }
        int asking = which;
        if (!ownWatched) {
            ownWatched = true;
            unwatchOwn = now.deletions()
                    .await(
                            node,
                            gone -> inTurn(asking, () -> {
                                ownWatched = false;
                                lookAgain(gone);
                            }),
                            () -> {});
        }
        if (!next.equals(watchedNext)) {
            String watching = next;
            watchedNext = watching;
            unwatchNext.run();
            unwatchNext = now.deletions()
                    .await(
                            folder.path(watching),
                            gone -> inTurn(asking, () -> {
                                if (watching.equals(watchedNext)) {
                                    watchedNext = "";
                                    lookAgain(gone);
                                }
                            }),
                            () -> {});
        }
    }

    /** @param gone false if a node could not be watched: at once that would be so again, for example where others own it */
    private void lookAgain(boolean gone) {
        if (gone) {
            look();
        } else {
            lookIn(AFTER_FAILURE_NANOS);
        }
    }
}
