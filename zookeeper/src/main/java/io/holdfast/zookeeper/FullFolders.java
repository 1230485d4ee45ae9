package io.holdfast.zookeeper;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/**
 * The folders in which this client saw a number that no node may have, and how they are replaced. Only a folder in
 * which a client always waits gets there, because the servers remove an empty one.
 *
 * <p>In such a folder nobody makes a node. When the last node is gone, any client deletes the folder, and the servers
 * number from zero again in the next one. Tokens do not begin again, as they are zxids.
 */
final class FullFolders {

    private final ZooKeeperErrors errors;
    private final Set<String> paths = ConcurrentHashMap.newKeySet();

    FullFolders(ZooKeeperErrors errors) {
        this.errors = errors;
    }

    /** Notes that the folder is full. */
    void add(Folder folder) {
        paths.add(folder.path());
    }

    boolean contains(Folder folder) {
        return paths.contains(folder.path());
    }

    /**
     * Deletes the folder if it is empty, or finds that there is a new one. Completes with the nodes that it still has;
     * with none, a node may be made there again.
     */
    CompletableFuture<QueueSnapshot> replace(Session now, Folder folder) {
        CompletableFuture<Session.Node> read = now.read(folder.path());
        CompletableFuture<QueueSnapshot> looked = folder.look(now);
        return read.handle((found, error) -> {
                    if (error != null && !ZooKeeperErrors.is(error, Code.NONODE)) {
                        throw new CompletionException(error);
                    }
                    return error == null && madeIn(found.stat()) >= QueueSnapshot.LIMIT;
                })
                .thenCompose(full -> full ? looked.thenCompose(queue -> delete(now, folder, queue)) : replaced(folder));
    }

    private CompletableFuture<QueueSnapshot> delete(Session now, Folder folder, QueueSnapshot queue) {
        if (!queue.isEmpty()) {
            return CompletableFuture.completedFuture(queue);
        }
        return now.delete(folder.path())
                .thenCompose(deleted -> replaced(folder))
                .exceptionallyCompose(error -> {
                    if (ZooKeeperErrors.is(error, Code.NONODE)) {
                        return replaced(folder);
                    }
                    String foreign = queue.foreign();
                    if (ZooKeeperErrors.is(error, Code.NOTEMPTY)) {
                        // Without a foreign node, another client has made one since the look.
                        return foreign == null
                                ? folder.look(now)
                                : CompletableFuture.failedFuture(errors.notOurs(folder, foreign));
                    }
                    return CompletableFuture.failedFuture(
                            ZooKeeperErrors.is(error, Code.NOAUTH) ? errors.notRemovable(folder, error) : error);
                });
    }

    private CompletableFuture<QueueSnapshot> replaced(Folder folder) {
        paths.remove(folder.path());
        return CompletableFuture.completedFuture(QueueSnapshot.of(List.of()));
    }

    /**
     * Returns how many nodes were made in a folder: the number of the next one. The servers report the number of
     * changes, which is twice that number less the present nodes, in 32 bits.
     */
    private static long madeIn(Stat folder) {
        return Integer.toUnsignedLong(folder.getCversion() + folder.getNumChildren()) / 2;
    }
}
