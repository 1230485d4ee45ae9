package io.holdfast.verify.zookeeper;

import io.holdfast.zookeeper.VerifyZooKeeper;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** Makes the store above it behave as if it had a bug. */
final class WrongHandle extends VerifyZooKeeper.ForwardedCommands {

    private final EnsembleBug bug;
    private final Map<String, Long> numbers = new HashMap<>();

    private WrongHandle(EnsembleBug bug, VerifyZooKeeper.Commands handle) {
        super(handle);
        this.bug = bug;
    }

    static VerifyZooKeeper.Commands of(EnsembleBug bug, VerifyZooKeeper.Commands handle) {
        return bug == EnsembleBug.NONE ? handle : new WrongHandle(bug, handle);
    }

    @Override
    public void create(String path, byte[] data, CreateMode mode, AsyncCallback.Create2Callback callback) {
        super.create(
                bug == EnsembleBug.POOL_WEIGHT_IS_FORGOTTEN ? path.replaceFirst("~\\d+(~\\d+~)$", "~1$1") : path,
                data,
                mode,
                (code, asked, context, name, stat) -> callback.processResult(
                        bug == EnsembleBug.CREATE_IS_NOT_SEARCHED && code == Code.CONNECTIONLOSS.intValue()
                                ? Code.THROTTLEDOP.intValue()
                                : code,
                        asked,
                        context,
                        asNext(name),
                        renumbered(name, stat)));
    }

    /** Gives the name of a node in a sequence the number after that of this client's last node in its folder. */
    private @Nullable String asNext(@Nullable String path) {
        if (bug != EnsembleBug.NUMBERS_LEAVE_OTHERS_OUT || path == null || !path.matches(".*~\\d{10}")) {
            return path;
        }
        String folder = path.substring(0, path.lastIndexOf('/'));
        int end = path.lastIndexOf('~') + 1;
        long number = numbers.merge(folder, Long.parseLong(path.substring(end)), (last, now) -> last + 1);
        return path.substring(0, end) + String.format("%010d", number);
    }

    @Override
    public void children(String path, @Nullable Watcher watcher, AsyncCallback.ChildrenCallback callback) {
        if (bug == EnsembleBug.POOL_WAITERS_ARE_OVERTAKEN || bug == EnsembleBug.POOL_LARGER_CAPACITY_OVERTAKES) {
            super.children(
                    path,
                    watcher,
                    (code, asked, context, nodes) ->
                            callback.processResult(code, asked, context, nodes == null ? null : withoutWaiters(nodes)));
            return;
        }
        if (bug == EnsembleBug.ONE_NODE_BEFORE_IS_SEEN) {
            super.children(
                    path,
                    watcher,
                    (code, asked, context, nodes) ->
                            callback.processResult(code, asked, context, nodes == null ? null : lastBefore(nodes)));
            return;
        }
        boolean waits = watcher != null && path.contains("~");
        if (bug == EnsembleBug.DELETION_IS_TOLD_TOO_SOON && waits) {
            super.children(path, watcher, callback);
            watcher.process(new WatchedEvent(EventType.NodeDeleted, KeeperState.SyncConnected, path));
            return;
        }
        if (bug != EnsembleBug.WATCHES_THE_WRONG_NODE || !waits) {
            super.children(path, watcher, callback);
            return;
        }
        // A look that sets no watch answers the same.
        super.children(path, null, callback);
    }

    /** Without those that are before the one before this client's. */
    private List<String> lastBefore(List<String> nodes) {
        VerifyZooKeeper.Queue queue = new VerifyZooKeeper.Queue(nodes);
        for (int i = 2; i < queue.size(); i++) {
            if (queue.node(i).contains("~" + Long.toHexString(sessionId()) + "~")) {
                List<String> seen = new ArrayList<>(nodes);
                for (int gone = 0; gone < i - 1; gone++) {
                    seen.remove(queue.node(gone));
                }
                return seen;
            }
        }
        return nodes;
    }

    /** Without some nodes of others that wait. */
    private List<String> withoutWaiters(List<String> nodes) {
        VerifyZooKeeper.Queue queue = new VerifyZooKeeper.Queue(nodes, true);
        int largest = nodes.stream().mapToInt(WrongHandle::capacity).max().orElse(0);
        List<String> seen = new ArrayList<>();
        for (int i = 0; i < queue.size(); i++) {
            String node = queue.node(i);
            boolean own = node.contains("~" + Long.toHexString(sessionId()) + "~");
            boolean ignored = bug == EnsembleBug.POOL_WAITERS_ARE_OVERTAKEN || capacity(node) < largest;
            if (own || i < queue.holders() || !ignored) {
                seen.add(node);
            }
        }
        return seen;
    }

    private static int capacity(String node) {
        String[] parts = node.split("~", -1);
        return parts.length == 5 ? Integer.parseInt(parts[3]) : 0;
    }

    @Override
    public void read(String path, @Nullable Watcher watcher, AsyncCallback.DataCallback callback) {
        super.read(path, bug == EnsembleBug.POOL_GRANT_IS_NOT_WATCHED ? null : watcher, callback);
    }

    @Override
    public void write(String path, byte[] data, AsyncCallback.StatCallback callback) {
        if (bug == EnsembleBug.PROOF_IS_A_READ) {
            read(
                    path,
                    null,
                    (code, asked, context, content, stat) -> callback.processResult(code, asked, context, stat));
        } else {
            super.write(
                    path,
                    data,
                    (code, asked, context, stat) ->
                            callback.processResult(code, asked, context, renumbered(path, stat)));
        }
    }

    @Override
    public void delete(String path, AsyncCallback.VoidCallback callback) {
        super.delete(
                path,
                (code, asked, context) -> callback.processResult(
                        bug == EnsembleBug.DELETE_IS_FORGOTTEN && code == Code.CONNECTIONLOSS.intValue()
                                ? Code.OK.intValue()
                                : code,
                        asked,
                        context));
    }

    private @Nullable Stat renumbered(@Nullable String path, @Nullable Stat stat) {
        if (bug == EnsembleBug.TOKEN_IS_THE_NODES_NUMBER && stat != null && path != null && path.contains("~")) {
            stat.setCzxid(1 + Long.parseLong(path.substring(path.lastIndexOf('~') + 1)));
        }
        return stat;
    }
}
