package io.holdfast.zookeeper;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.TimeSource;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;

/** The node of one lock, with those who hold or wait as its children; and the way of its contenders to the store. */
final class Folder {

    /** A folder may vanish again before the next step. */
    private static final int MAKE_ATTEMPTS = 20;

    private static final Pattern DATA = Pattern.compile("session=(\\d{1,9})(?: .*)?");

    private final ZooKeeperLockStore store;
    private final String name;
    private final String path;

    Folder(ZooKeeperLockStore store, String root, String name) {
        this.store = store;
        this.name = name;
        this.path = root + "/" + NodeNames.encode(name);
    }

    /** The lock's. */
    String name() {
        return name;
    }

    String path() {
        return path;
    }

    String path(String child) {
        return path + "/" + child;
    }

    TimeSource time() {
        return store.time();
    }

    Session session() {
        return store.session();
    }

    /** Another number after each reconnection. */
    int connection() {
        return store.connection();
    }

    StoreListener listener() {
        return store.listener();
    }

    String describe() {
        return store.describe();
    }

    /** What an error means for the command. */
    StoreException failure(Throwable error) {
        return store.failure(error);
    }

    CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return store.contender(this, request.holderId()).acquire(request);
    }

    /** For a holder id whose contender has finished. */
    CompletableFuture<AcquireReply> acquireAnew(AcquireRequest request) {
        return fresh(request.holderId()).acquire(request);
    }

    /** For a holder id whose contender has finished: there is another one, or nothing to withdraw. */
    CompletableFuture<Boolean> abandonAnew(String holderId) {
        return store.abandonKnown(name, holderId);
    }

    /** The contender of a holder id, a new one if there is none. */
    Contender fresh(String holderId) {
        return store.contender(this, holderId);
    }

    void remove(String holderId, Contender contender) {
        store.remove(this, holderId, contender);
    }

    // --- nodes ---

    /** Those who hold or wait, as the server knows that we are connected to; it may not have heard the latest. */
    CompletableFuture<QueueSnapshot> look(Session session) {
        return session.children(path, null).handle((nodes, error) -> {
            if (error == null) {
                return QueueSnapshot.of(nodes);
            }
            if (ZooKeeperErrors.is(error, Code.NONODE)) {
                return QueueSnapshot.of(List.of());
            }
            throw new CompletionException(error);
        });
    }

    /**
     * Those who hold or wait, with everything that was done before this was asked; unless the server follows a leader that has
     * been replaced and does not know it yet, which answers all the same.
     */
    CompletableFuture<QueueSnapshot> lookAtNewest(Session session) {
        CompletableFuture<Boolean> synced = session.sync(path);
        CompletableFuture<QueueSnapshot> line = look(session);
        // The connection may end between the two: then another server is asked, which may be behind.
        return synced.thenCompose(newest -> line);
    }

    /**
     * Those who hold or wait, with everything that was done before this was asked, whatever the leader is: a majority has taken
     * part in it.
     *
     * @param nobody the name of a node that there never is
     */
    CompletableFuture<QueueSnapshot> lookWithMajority(Session session, String nobody) {
        // What cannot be done takes its place in the order of all writes, too.
        CompletableFuture<Boolean> refused = session.delete(path(nobody));
        CompletableFuture<QueueSnapshot> line = look(session);
        return refused.handle((deleted, error) -> {
                    if (error != null && !ZooKeeperErrors.is(error, Code.NONODE)) {
                        throw new CompletionException(error);
                    }
                    return true;
                })
                .thenCompose(newest -> line);
    }

    Watcher onChange(Runnable told) {
        return event -> {
            // The others say how the connection is doing.
            if (event.getType() != Watcher.Event.EventType.None) {
                told.run();
            }
        };
    }

    /** Makes the folder, as a container: the servers remove it some time after its last child has gone. */
    CompletableFuture<Boolean> make(Session session) {
        return make(session, path, MAKE_ATTEMPTS);
    }

    static CompletableFuture<Boolean> make(Session session, String path) {
        return make(session, path, MAKE_ATTEMPTS);
    }

    private static CompletableFuture<Boolean> make(Session session, String path, int attempts) {
        return StageChain.then(session.create(path, new byte[0], CreateMode.CONTAINER), (created, error) -> {
            int slash = path.lastIndexOf('/');
            if (error == null || ZooKeeperErrors.is(error, Code.NODEEXISTS)) {
                return CompletableFuture.completedFuture(true);
            }
            if (ZooKeeperErrors.is(error, Code.NONODE) && slash > 0 && attempts > 0) {
                return make(session, path.substring(0, slash), attempts - 1)
                        .thenCompose(made -> make(session, path, attempts - 1));
            }
            if (ZooKeeperErrors.is(error, Code.NOAUTH)) {
                // Servers look at the rights to the node above before they see that this one is there.
                return StageChain.then(
                        session.children(path, null),
                        (nodes, missing) -> missing == null
                                ? CompletableFuture.completedFuture(true)
                                : CompletableFuture.<Boolean>failedFuture(error));
            }
            return CompletableFuture.<Boolean>failedFuture(error);
        });
    }

    // --- what a node says, for those who look ---

    byte[] data(Session session, AcquireRequest request) {
        return data(session, request.leaseMillis());
    }

    byte[] data(Session session, long leaseMillis) {
        return ("session=" + session.timeoutMillis() + " lease=" + leaseMillis).getBytes(StandardCharsets.US_ASCII);
    }

    /** The session timeout that a node's data say, in milliseconds; the other one if they do not. */
    static long sessionMillis(String data, long otherwise) {
        Matcher matcher = DATA.matcher(data);
        return matcher.matches() ? Long.parseLong(matcher.group(1)) : otherwise;
    }
}
