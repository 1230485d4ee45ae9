package io.holdfast.verify.zookeeper;

import io.holdfast.zookeeper.VerifyZooKeeper;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** Makes the store above it behave as if it had a bug. */
final class WrongHandle extends VerifyZooKeeper.ForwardedCommands {

    private final EnsembleBug bug;

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
            super.children(path, watcher, callback);
            return;
        }
        // A look that sets no watch answers the same.
        super.children(path, null, callback);
    }

    @Override
    public void write(String path, byte[] data, AsyncCallback.StatCallback callback) {
        if (bug == EnsembleBug.PROOF_IS_A_READ) {
            read(path, (code, asked, context, content, stat) -> callback.processResult(code, asked, context, stat));
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
