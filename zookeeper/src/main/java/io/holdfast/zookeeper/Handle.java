package io.holdfast.zookeeper;

import java.util.List;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * The part of ZooKeeper's handle that a {@link Session} needs; the simulation has another implementation. No method
 * blocks. Callbacks come one at a time, in the order of the calls, and in order with the events of watchers.
 */
interface Handle {

    /** Returns the id of the session, or zero before there is one. */
    long sessionId();

    /** Returns the timeout that was negotiated with the last connected server, in milliseconds. */
    int sessionTimeout();

    /** Returns whether the session is known to have ended, or was given up. The handle never gets another session. */
    boolean isOver();

    /** Returns the rights of the nodes that it creates; for the steps of {@link #together}. */
    List<ACL> access();

    void create(String path, byte[] data, CreateMode mode, AsyncCallback.Create2Callback callback);

    /**
     * Lists a node's children.
     *
     * @param watcher receives the next change of the children, or the deletion of the node; may be null
     */
    void children(String path, @Nullable Watcher watcher, AsyncCallback.ChildrenCallback callback);

    void write(String path, byte[] data, AsyncCallback.StatCallback callback);

    /**
     * Reads a node's data.
     *
     * @param watcher receives the next write to the node, or its deletion; may be null
     */
    void read(String path, @Nullable Watcher watcher, AsyncCallback.DataCallback callback);

    void delete(String path, AsyncCallback.VoidCallback callback);

    void sync(String path, AsyncCallback.VoidCallback callback);

    /** Executes all steps, or none. */
    void together(List<Op> steps, AsyncCallback.MultiCallback callback);
}
