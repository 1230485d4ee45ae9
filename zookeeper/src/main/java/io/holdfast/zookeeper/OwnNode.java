package io.holdfast.zookeeper;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.AcquireReply.Busy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The node of a holder id in the lock's folder: whether there is one, and where it is in the line.
 *
 * <pre>
 *   NONE → UNSURE         a create was sent
 *   UNSURE → QUEUED       created, or found after its answer was lost
 *   UNSURE → NONE         surely not created
 *   QUEUED → FIRST        no node is before it any more; that never changes back while the node is there
 *   QUEUED, FIRST → NONE  the node is gone: deleted, or its session is over
 * </pre>
 *
 * <p>Invariant: there is never a second node of this id, as a create is sent only in NONE, and NONE is only entered when the
 * node is surely gone or was surely not made.
 *
 * <p>All of it belongs to whoever's turn it is at the {@link Contender}.
 */
final class OwnNode {

    enum Place {
        NONE,
        UNSURE,
        QUEUED,
        FIRST
    }

    private final Folder folder;
    private final String holderId;
    private final SerialQueue turns;
    private final PredecessorView outlook;
    private final Runnable gone;
    private final Function<Session, CompletableFuture<Boolean>> next;

    private Place place = Place.NONE;
    private @Nullable Session session;
    private @Nullable String path; // null in NONE and UNSURE
    private @Nullable String predecessor; // in QUEUED: the node whose deletion is watched
    private Runnable unwatch = () -> {};

    /**
     * No node yet.
     *
     * @param gone told whenever there is no node any more
     * @param next told, in turn, that the node just before it has been deleted
     */
    OwnNode(
            Folder folder,
            String holderId,
            SerialQueue turns,
            Runnable gone,
            Function<Session, CompletableFuture<Boolean>> next) {
        this.folder = folder;
        this.holderId = holderId;
        this.turns = turns;
        this.outlook = new PredecessorView(folder.time());
        this.gone = gone;
        this.next = next;
    }

    Place place() {
        return place;
    }

    /** Whether it is known to have been made, and not to be gone. */
    boolean isMade() {
        return path != null;
    }

    String path() {
        return requireNonNull(path);
    }

    /** In which it was made, or a create was sent. */
    Session session() {
        return requireNonNull(session);
    }

    // --- made and found ---

    /** A create is about to be sent. Returns what its path begins with; the servers append the number. */
    String beginning(Session now) {
        place = Place.UNSURE;
        session = now;
        return folder.path(prefix(now));
    }

    void made(String path) {
        this.path = path;
        place = Place.QUEUED;
    }

    /** Finds out what has become of a create whose answer was lost. A session that moved on executes no late ones. */
    CompletableFuture<Boolean> locate(Session now) {
        // A node that is taken for missing is never deleted, and has the lock for as long as the session. The names of
        // nodes end with a number, so none is called as they begin.
        return folder.lookWithMajority(now, prefix(now)).thenApply(line -> {
            String found = line.find(prefix(now));
            if (found == null) {
                forget();
                return false;
            }
            path = folder.path(found);
            return isIn(now, line);
        });
    }

    /** Learns from the line where it is. False if it is not there any more. */
    boolean isIn(Session now, QueueSnapshot line) {
        int index = line.indexOf(name());
        if (index < 0) {
            forget();
            return false;
        }
        if (index == 0) {
            place = Place.FIRST;
            predecessor = null;
            unwatch.run();
        } else {
            place = Place.QUEUED;
            watchPredecessor(now, line.node(index - 1));
        }
        return true;
    }

    private void watchPredecessor(Session now, String before) {
        if (before.equals(predecessor)) {
            return;
        }
        predecessor = before;
        unwatch.run();
        unwatch = now.deletions()
                .await(
                        folder.path(before),
                        told -> turns.event(() -> predecessorGone(now, before, told)),
                        () -> outlook.watchStands(before));
    }

    /** @param told false if the watch could not be set: then the next poll sets it */
    private CompletableFuture<Boolean> predecessorGone(Session now, String before, boolean told) {
        if (place != Place.QUEUED || session != now || !before.equals(predecessor)) {
            return CompletableFuture.completedFuture(true);
        }
        predecessor = null;
        return told ? next.apply(now) : CompletableFuture.completedFuture(true);
    }

    // --- what a waiter is told ---

    /** For one that is in the line, but not the first. */
    Busy busy(Session now, QueueSnapshot line) {
        int ahead = Math.max(0, line.indexOf(name()) - 1);
        return outlook.seen(new Busy(now.longestPromiseMillis(), ahead, line.holder()), folder.connection());
    }

    /** The same without a look, or null if it takes one. */
    @Nullable
    Busy known(long pollMillis) {
        return outlook.known(predecessor, folder.connection(), pollMillis);
    }

    // --- written and gone ---

    /** A committed write to it says that it is there, and so is the session. The stage has null if it is gone. */
    CompletableFuture<@Nullable Stat> write(Session now, byte[] data) {
        return now.write(path(), data).handle((stat, error) -> {
            if (error == null) {
                return stat;
            }
            if (isGone(error)) {
                forget();
                return null;
            }
            throw new CompletionException(error);
        });
    }

    /** False if it was not there any more. */
    CompletableFuture<Boolean> delete() {
        return session().delete(path()).handle((deleted, error) -> {
            if (error == null || isGone(error)) {
                forget();
                return error == null;
            }
            throw new CompletionException(error);
        });
    }

    /** Whether this error says that the node is not there any more. */
    static boolean isGone(Throwable error) {
        return ZooKeeperErrors.is(error, Code.NONODE) || ZooKeeperErrors.is(error, Code.SESSIONEXPIRED);
    }

    /** What is asked from now on is asked in this session. */
    void enter(Session now) {
        if (session != null && session.id() != now.id()) {
            forget();
        } else if (session != null) {
            session = now;
        }
    }

    /** The session is over, and all its nodes are, or will be soon. */
    void sessionOver(long id) {
        if (session != null && session.id() == id) {
            forget();
        }
    }

    /** There is no node any more. */
    void forget() {
        place = Place.NONE;
        session = null;
        path = null;
        predecessor = null;
        unwatch.run();
        gone.run();
    }

    private String prefix(Session now) {
        return QueueSnapshot.prefix(holderId, now.id());
    }

    private String name() {
        return path().substring(path().lastIndexOf('/') + 1);
    }
}
