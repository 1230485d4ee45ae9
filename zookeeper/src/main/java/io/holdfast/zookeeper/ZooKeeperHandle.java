package io.holdfast.zookeeper;

import java.util.List;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/** Wraps ZooKeeper's own handle. Two wrappers of the same handle are equal. */
record ZooKeeperHandle(ZooKeeper handle, List<ACL> access) implements Handle {

    @Override
    public long sessionId() {
        return handle.getSessionId();
    }

    @Override
    public int sessionTimeout() {
        return handle.getSessionTimeout();
    }

    @Override
    public boolean isOver() {
        return !handle.getState().isAlive();
    }

    @Override
    public void create(String path, byte[] data, CreateMode mode, AsyncCallback.Create2Callback callback) {
        handle.create(path, data, access, mode, callback, null);
    }

    @Override
    public void children(String path, @Nullable Watcher watcher, AsyncCallback.ChildrenCallback callback) {
        handle.getChildren(path, watcher, callback, null);
    }

    @Override
    public void write(String path, byte[] data, AsyncCallback.StatCallback callback) {
        handle.setData(path, data, -1, callback, null);
    }

    @Override
    public void read(String path, @Nullable Watcher watcher, AsyncCallback.DataCallback callback) {
        handle.getData(path, watcher, callback, null);
    }

    @Override
    public void delete(String path, AsyncCallback.VoidCallback callback) {
        handle.delete(path, -1, callback, null);
    }

    @Override
    public void sync(String path, AsyncCallback.VoidCallback callback) {
        handle.sync(path, callback, null);
    }

    @Override
    public void together(List<Op> steps, AsyncCallback.MultiCallback callback) {
        handle.multi(steps, callback, null);
    }
}
