package io.holdfast.zookeeper;

import java.util.List;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** Makes the store above it behave as if it had a bug. */
record WrongHandle(EnsembleBug bug, Handle handle) implements Handle {

    static Handle of(EnsembleBug bug, Handle handle) {
        return bug == EnsembleBug.NONE ? handle : new WrongHandle(bug, handle);
    }

    @Override
    public long sessionId() {
        return handle.sessionId();
    }

    @Override
    public int sessionTimeout() {
        return handle.sessionTimeout();
    }

    @Override
    public boolean isOver() {
        return handle.isOver();
    }

    @Override
    public List<ACL> access() {
        return handle.access();
    }

    @Override
    public void create(String path, byte[] data, CreateMode mode, AsyncCallback.Create2Callback callback) {
        handle.create(
                path,
                data,
                mode,
                (code, asked, context, name, stat) -> callback.processResult(
                        bug == EnsembleBug.CREATE_IS_NOT_SEARCHED && code == Code.CONNECTIONLOSS.intValue()
                                ? Code.THROTTLEDOP.intValue()
                                : code,
                        asked,
                        context,
                        name,
                        renumbered(name, stat)));
    }

    @Override
    public void children(String path, @Nullable Watcher watcher, AsyncCallback.ChildrenCallback callback) {
        boolean waits = watcher != null && path.contains("~");
        if (bug != EnsembleBug.WATCHES_THE_WRONG_NODE || !waits) {
            handle.children(path, watcher, callback);
            return;
        }
        // A look that sets no watch answers the same.
        handle.children(path, null, callback);
    }

    @Override
    public void write(String path, byte[] data, AsyncCallback.StatCallback callback) {
        if (bug == EnsembleBug.PROOF_IS_A_READ) {
            handle.read(
                    path, (code, asked, context, content, stat) -> callback.processResult(code, asked, context, stat));
        } else {
            handle.write(
                    path,
                    data,
                    (code, asked, context, stat) ->
                            callback.processResult(code, asked, context, renumbered(path, stat)));
        }
    }

    @Override
    public void read(String path, AsyncCallback.DataCallback callback) {
        handle.read(path, callback);
    }

    @Override
    public void delete(String path, AsyncCallback.VoidCallback callback) {
        handle.delete(
                path,
                (code, asked, context) -> callback.processResult(
                        bug == EnsembleBug.DELETE_IS_FORGOTTEN && code == Code.CONNECTIONLOSS.intValue()
                                ? Code.OK.intValue()
                                : code,
                        asked,
                        context));
    }

    @Override
    public void sync(String path, AsyncCallback.VoidCallback callback) {
        handle.sync(path, callback);
    }

    @Override
    public void together(List<Op> steps, AsyncCallback.MultiCallback callback) {
        handle.together(steps, callback);
    }

    private @Nullable Stat renumbered(@Nullable String path, @Nullable Stat stat) {
        if (bug == EnsembleBug.TOKEN_IS_THE_NODES_NUMBER && stat != null && path != null && path.contains("~")) {
            stat.setCzxid(1 + Long.parseLong(path.substring(path.lastIndexOf('~') + 1)));
        }
        return stat;
    }
}
