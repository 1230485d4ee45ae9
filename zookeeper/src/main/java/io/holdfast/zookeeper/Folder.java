package io.holdfast.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/**
 * The folder of one lock or of one pool, whose children are the nodes that hold or wait.
 *
 * @param name the lock's, or that of the pool in the view of pools
 */
record Folder(String name, String path, boolean isPool) {

    /** The parent of the pools' folders. No lock's folder has a name with a ~. */
    private static final String POOLS = "/~pools/";

    /** The servers may remove a folder before the next step, so creating one may take several attempts. */
    private static final int MAKE_ATTEMPTS = 20;

    static Folder of(String root, String name) {
        return new Folder(name, root + "/" + NodeNames.encode(name), false);
    }

    static Folder ofPool(String root, String name) {
        return new Folder(name, root + POOLS + NodeNames.encode(name), true);
    }

    /** Names the folder's lock or pool in a message. */
    String described() {
        return isPool ? "\"" + name + "\" in " + path.substring(0, path.lastIndexOf('/')) : "the lock \"" + name + "\"";
    }

    QueueSnapshot queue(List<String> nodes) {
        return QueueSnapshot.of(nodes, isPool);
    }

    String path(String child) {
        return path + "/" + child;
    }

    /** Returns the queue as the connected server knows it. That server may be behind. */
    CompletableFuture<QueueSnapshot> look(Session session) {
        return look(session, null);
    }

    /** @param watcher receives the next change of the queue; may be null */
    CompletableFuture<QueueSnapshot> look(Session session, @Nullable Watcher watcher) {
        return session.children(path, watcher).handle((nodes, error) -> {
            if (error == null) {
                return queue(nodes);
            }
            if (ZooKeeperErrors.is(error, Code.NONODE)) {
                return queue(List.of());
            }
            throw new CompletionException(error);
        });
    }

    /**
     * Returns the queue with everything that was done before this call. The exception is a server that follows a leader
     * which was replaced, and does not know it yet: it answers with what it has.
     */
    CompletableFuture<QueueSnapshot> lookAtNewest(Session session) {
        CompletableFuture<Boolean> synced = session.sync(path);
        CompletableFuture<QueueSnapshot> queue = look(session);
        // If the connection ends between the two, another server answers the look and may be behind.
        return synced.thenCompose(newest -> queue);
    }

    /**
     * Returns the queue with everything that was done before this call, even if the leader was replaced: a majority has
     * taken part.
     *
     * @param nobody the name of a node that never exists
     */
    CompletableFuture<QueueSnapshot> lookWithMajority(Session session, String nobody) {
        // Even a command that cannot be executed has a place in the order of all writes.
        CompletableFuture<Boolean> refused = session.delete(path(nobody));
        CompletableFuture<QueueSnapshot> queue = look(session);
        return refused.handle((deleted, error) -> {
                    if (error != null && !ZooKeeperErrors.is(error, Code.NONODE)) {
                        throw new CompletionException(error);
                    }
                    return true;
                })
                .thenCompose(newest -> queue);
    }

    /** Creates a folder, as a container: the servers remove it some time after its last child is gone. */
    static CompletableFuture<Boolean> make(Session session, String path) {
        return make(session, path, MAKE_ATTEMPTS);
    }

    private static CompletableFuture<Boolean> make(Session session, String path, int attempts) {
        int slash = path.lastIndexOf('/');
        return session.create(path, CreateMode.CONTAINER)
                .thenApply(created -> true)
                .exceptionallyCompose(error -> {
                    if (ZooKeeperErrors.is(error, Code.NODEEXISTS)) {
                        return CompletableFuture.completedFuture(true);
                    }
                    if (ZooKeeperErrors.is(error, Code.NONODE) && slash > 0 && attempts > 0) {
                        return make(session, path.substring(0, slash), attempts - 1)
                                .thenCompose(made -> make(session, path, attempts - 1));
                    }
                    if (ZooKeeperErrors.is(error, Code.NOAUTH)) {
                        // Servers check the rights to the parent node before they see that this node exists.
                        return session.children(path, null)
                                .thenApply(nodes -> true)
                                .exceptionallyCompose(missing -> CompletableFuture.failedFuture(error));
                    }
                    return CompletableFuture.failedFuture(error);
                });
    }
}
