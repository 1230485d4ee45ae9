package io.holdfast.zookeeper;

import java.util.List;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Session} needs of ZooKeeper's handle; the simulation has another. All return at once; callbacks come one at
 * a time, in the order of the calls, and in order with what watchers are told.
 */
interface Handle {

    /** Zero before there is one. */
    long sessionId();

    /** What was agreed with the server that was connected to last, in milliseconds. */
    int sessionTimeout();

    /** The session has ended, or is given up, as far as is known here: this handle gets no other one. */
    boolean isOver();

    /** The rights of the nodes that it makes; for the steps of {@link #together}. */
    List<ACL> access();

    void create(String path, byte[] data, CreateMode mode, AsyncCallback.Create2Callback callback);

    /**
     * Lists a node's children.
     *
     * @param watcher told of the next change of them, or of the node's end; may be null
     */
    void children(String path, @Nullable Watcher watcher, AsyncCallback.ChildrenCallback callback);

    void write(String path, byte[] data, AsyncCallback.StatCallback callback);

    void read(String path, AsyncCallback.DataCallback callback);

    void delete(String path, AsyncCallback.VoidCallback callback);

    void sync(String path, AsyncCallback.VoidCallback callback);

    /** All steps, or none. */
    void together(List<Op> steps, AsyncCallback.MultiCallback callback);
}
