package io.holdfast.zookeeper;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.zookeeper.Watches.Report;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The node of a holder id in the folder of a lock or a pool: knows whether it exists and its place in the queue, and
 * sends its commands.
 *
 * <pre>
 *   NONE → UNSURE         a create was sent
 *   UNSURE → QUEUED       created, or found after its answer was lost
 *   UNSURE → NONE         certainly not created
 *   QUEUED → FITS         it holds: a lock's node is the first; this never changes back while the node exists
 *   QUEUED, FITS → NONE   the node is gone: deleted, or its session is over
 * </pre>
 *
 * <p>Invariant: there is never a second node of this id. A create is sent only in NONE, and NONE is entered only when
 * the node is certainly gone or was certainly not created.
 *
 * <p>Invariant: a pool's node is written only when it fits, as the node behind it takes a write for its grant. It is
 * written then if the node behind it waits for that.
 *
 * <p>Only the work of the contender's {@link SerialQueue} uses it.
 */
final class OwnNode {

    enum Place {
        NONE,
        UNSURE,
        QUEUED,
        FITS
    }

    private static final Pattern DATA = Pattern.compile("session=(\\d{1,9})(?: lease=(\\d{1,18}))?(?: .*)?");

    private final StoreAccess store;
    private final Folder folder;
    private final String holderId;
    private final PlaceView view;
    private final SerialQueue work;
    private final PlaceWatch watch; // set in QUEUED alone
    private final StoppableTimer announcing;
    private final Runnable onGone;

    private Place place = Place.NONE;
    private @Nullable Session session;
    private @Nullable String path; // null in NONE and UNSURE
    private @Nullable String twin; // a node with the same number, when one was seen before this node fitted
    private boolean follows; // whether it was made directly after the node that this client had in the folder before
    private boolean isNext; // whether only one node was before this one when it was last seen waiting for a lock

    /**
     * Creates a handle without a node.
     *
     * @param onGone runs whenever the node is gone
     * @param onMayFit runs as work of the queue when the waiting node may fit, or does
     * @param onLook runs as work of the queue when it may fit, with what a look has shown since
     */
    OwnNode(
            StoreAccess store,
            Folder folder,
            String holderId,
            SerialQueue work,
            Runnable onGone,
            Function<Session, CompletableFuture<Boolean>> onMayFit,
            BiFunction<Session, QueueSnapshot, CompletableFuture<Boolean>> onLook) {
        this.store = store;
        this.folder = folder;
        this.holderId = holderId;
        this.work = work;
        this.announcing = new StoppableTimer(store.time());
        this.view = new PlaceView(store.time());
        this.watch = new PlaceWatch(
                folder,
                work,
                view,
                (now, report) -> {
                    seenGone(report);
                    return onMayFit.apply(now);
                },
                onLook);
        this.onGone = onGone;
    }

    Place place() {
        return place;
    }

    /** Returns whether the node exists, as far as this client knows. */
    boolean isMade() {
        return path != null;
    }

    String path() {
        return requireNonNull(path);
    }

    /** Returns the session in which the node was created, or a create was sent. */
    Session session() {
        return requireNonNull(session);
    }

    /** Returns whether the node's number is one that no node may have. Such a node is deleted, and never holds. */
    boolean isBeyondLimit() {
        return path != null && QueueSnapshot.number(path) >= QueueSnapshot.LIMIT;
    }

    /** Returns another node with the same number, or null if none was seen. With one, this node never holds. */
    @Nullable
    String twin() {
        return twin;
    }

    // --- made and found ---

    /** Creates the node at the end of the queue. Completes with null if there is no folder. */
    CompletableFuture<@Nullable Stat> create(Session now, AcquireRequest request) {
        return now.createInSequence(beginning(now, request), data(now, request.leaseMillis()))
                .handle((made, error) -> {
                    if (made != null) {
                        made(made.path());
                        return made.stat();
                    }
                    forgetUnmade(error);
                    if (ZooKeeperErrors.is(error, Code.NONODE)) {
                        return null;
                    }
                    throw new CompletionException(error);
                });
    }

    /** Deletes another node and creates this one at the end, in one step; returns false if the other is gone. */
    CompletableFuture<Boolean> replace(Session now, OwnNode other, AcquireRequest request) {
        return now.replaceInSequence(other.path(), beginning(now, request), data(now, request.leaseMillis()))
                .handle((made, error) -> {
                    if (made != null) {
                        made(made);
                        return true;
                    }
                    forgetUnmade(error);
                    if (isGone(error)) {
                        return false;
                    }
                    throw new CompletionException(error);
                });
    }

    /** Prepares a create that is about to be sent. Returns the beginning of its path; servers append the number. */
    private String beginning(Session now, AcquireRequest request) {
        place = Place.UNSURE;
        session = now;
        String share = folder.isPool() ? QueueSnapshot.share(request.weight(), request.capacity()) : "";
        return folder.path(prefix(now) + share);
    }

    private void made(String path) {
        this.path = path;
        place = Place.QUEUED;
    }

    private void forgetUnmade(Throwable error) {
        if (!ZooKeeperErrors.isUnknown(error)) {
            forget();
        }
    }

    /** Finds out whether a create was executed whose answer was lost. A moved session executes no late commands. */
    CompletableFuture<Boolean> locate(Session now) {
        // A node that is wrongly taken for missing is never deleted, and keeps the lock for as long as the session. No
        // node's name is the prefix alone, as all end with a number.
        return folder.lookWithMajority(now, prefix(now)).thenApply(queue -> {
            String found = queue.find(prefix(now));
            if (found == null) {
                forget();
                return false;
            }
            made(folder.path(found));
            return isIn(now, queue);
        });
    }

    /** Learns the node's place from the queue; returns false if the node is not there any more, or must not be used. */
    boolean isIn(Session now, QueueSnapshot queue) {
        int index = queue.indexOf(name());
        if (index < 0) {
            forget();
            return false;
        }
        twin = queue.twin(index);
        if (twin != null || isBeyondLimit()) {
            return false;
        }
        if (index < queue.holders()) {
            place = Place.FITS;
            watch.stop();
            announcing.cancel();
        } else {
            place = Place.QUEUED;
            isNext = !folder.isPool() && index == 1;
            watch.await(now, queue.awaited(index));
        }
        return true;
    }

    /**
     * Notes that the awaited node is gone. A look after the create shows all nodes that came before it. If there was
     * only that one, this node is the first now.
     */
    private void seenGone(Report report) {
        if (isNext && report == Report.GONE) {
            place = Place.FITS;
        }
    }

    /** Returns whether this node is alone in its folder: it was just made, after the deletion of the last node. */
    boolean isAloneAfter(LastHeld.Node last, Stat made) {
        follows = last.isFollowedBy(QueueSnapshot.number(path()), made.getCzxid());
        return follows;
    }

    /** Returns what is to be remembered of this node when it is deleted, which is the first of that queue. */
    LastHeld.Node asLast(Stat made) {
        return new LastHeld.Node(QueueSnapshot.number(path()), made.getCzxid(), follows);
    }

    /** Returns whether the node behind this one may wait for a write to this node. */
    boolean isAwaited(QueueSnapshot queue) {
        return folder.isPool() && queue.hasRoomBehind(queue.indexOf(name()));
    }

    /** Returns the queue with this node alone. */
    QueueSnapshot alone() {
        return folder.queue(List.of(name()));
    }

    /**
     * Tells the holders of a pool that this node has begun to wait, if they are to be told: writes its number to the
     * folder, which they watch. Does so when they do that, and if the node still waits then. A failure is not reported.
     * Holders learn of the waiter at their renewals, too.
     *
     * <p>This node cannot hold while that is done. So if its number replaces that of a later node, its grant counts the
     * later node as one that waits.
     */
    void announce(Session now, QueueSnapshot queue) {
        if (folder.isPool() && queue.isAnnounced(queue.indexOf(name()))) {
            String waiting = path();
            announcing.set(
                    HolderWatch.FIRST_LOOK_NANOS,
                    () -> work.addEvent(() -> place == Place.QUEUED && waiting.equals(path)
                            ? now.announce(folder.path(), QueueSnapshot.number(waiting))
                            : CompletableFuture.completedFuture(true)));
        }
    }

    // --- the answer to a waiter ---

    /** Returns the answer to a waiter whose node is in the queue, but does not fit. */
    Busy busy(Session now, QueueSnapshot queue) {
        int ahead = queue.indexOf(name()) - queue.holders();
        return view.seen(new Busy(now.longestPromiseMillis(), ahead, queue.holder()), store.reconnections());
    }

    /** Returns that answer from memory, or null if it takes a look. */
    @Nullable
    Busy known(long pollMillis) {
        return view.known(watch.awaited(), store.reconnections(), pollMillis);
    }

    // --- written and gone ---

    /**
     * Writes to the node, and looks at the queue unless it is known. Writes a second time if the leader may have been
     * paused before the first write. The second write counts in any case: a leader that was paused would have ended the
     * session between the two, and a slow ensemble would otherwise be written to forever. Completes with null if the
     * node is gone.
     *
     * @param known the queue if it was just seen, or null
     */
    CompletableFuture<@Nullable Proof> prove(Session now, long leaseMillis, @Nullable QueueSnapshot known) {
        return write(now, leaseMillis, known)
                .thenCompose(proof -> proof == null || now.shows(proof.promise())
                        ? CompletableFuture.completedFuture(proof)
                        : write(now, leaseMillis, proof.queue()));
    }

    /** Writes as {@link #prove}, but once. A committed write proves that the node and the session exist. */
    CompletableFuture<@Nullable Proof> write(Session now, long leaseMillis, @Nullable QueueSnapshot known) {
        Session.Promise promise = now.promise();
        CompletableFuture<@Nullable Stat> written = now.write(path(), data(now, leaseMillis))
                .handle((stat, error) -> {
                    if (error == null) {
                        return stat;
                    }
                    if (isGone(error)) {
                        forget();
                        return null;
                    }
                    throw new CompletionException(error);
                });
        CompletableFuture<QueueSnapshot> queue =
                known != null ? CompletableFuture.completedFuture(known) : folder.look(now);
        return written.thenCompose(stat -> stat == null
                ? CompletableFuture.completedFuture(null)
                : queue.thenApply(seen -> new Proof(stat, seen, promise)));
    }

    /** Deletes the node; returns false if it was not there any more. */
    CompletableFuture<Boolean> delete() {
        return session().delete(path()).handle((deleted, error) -> {
            if (error == null || isGone(error)) {
                forget();
                return error == null;
            }
            throw new CompletionException(error);
        });
    }

    private static boolean isGone(Throwable error) {
        return ZooKeeperErrors.is(error, Code.NONODE) || ZooKeeperErrors.is(error, Code.SESSIONEXPIRED);
    }

    /** Sends commands on this session from now on. */
    void enter(Session now) {
        if (session != null && session.id() != now.id()) {
            forget();
        } else if (session != null) {
            session = now;
        }
    }

    /** Forgets the node if it is of that session, which is over. */
    void sessionOver(long id) {
        if (session != null && session.id() == id) {
            forget();
        }
    }

    /** Notes that there is no node any more. */
    void forget() {
        place = Place.NONE;
        session = null;
        path = null;
        twin = null;
        follows = false;
        isNext = false;
        watch.stop();
        announcing.cancel();
        onGone.run();
    }

    private String prefix(Session now) {
        return QueueSnapshot.prefix(holderId, now.id());
    }

    private String name() {
        return path().substring(path().lastIndexOf('/') + 1);
    }

    // --- what a node tells other clients ---

    private static byte[] data(Session session, long leaseMillis) {
        return ("session=" + session.timeoutMillis() + " lease=" + leaseMillis).getBytes(StandardCharsets.US_ASCII);
    }

    /** Returns the session timeout in a node's data, in milliseconds; the default if there is none. */
    static long sessionMillis(String data, long otherwise) {
        return millis(data, 1, otherwise);
    }

    /** Returns the lease in a node's data, in milliseconds; the default if there is none. */
    static long leaseMillis(String data, long otherwise) {
        return millis(data, 2, otherwise);
    }

    private static long millis(String data, int group, long otherwise) {
        Matcher matcher = DATA.matcher(data);
        String found = matcher.matches() ? matcher.group(group) : null;
        return found == null ? otherwise : Long.parseLong(found);
    }
}
