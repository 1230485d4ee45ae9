package io.holdfast.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * A session, and its commands as stages. Commands are sent in the order of the calls and executed in that order; a read
 * sees every write that was sent before it. Failures are {@link KeeperException}s; nothing is sent twice. Stages complete
 * on ZooKeeper's event thread.
 */
final class Session {

    private final ZooKeeper handle;
    private final List<ACL> access;
    private final long id;

    /** @param handle of a session that is established */
    Session(ZooKeeper handle, List<ACL> access) {
        this.handle = handle;
        this.access = access;
        this.id = handle.getSessionId();
    }

    long id() {
        return id;
    }

    @SuppressWarnings("ReferenceEquality") // the same handle, not an equal one
    boolean isOf(ZooKeeper other) {
        return handle == other && id == other.getSessionId();
    }

    /** What was agreed with the server; another server may agree on something else. */
    int timeoutMillis() {
        return handle.getSessionTimeout();
    }

    /**
     * For how long the session surely lives after a write that it committed, counted from the sending.
     *
     * <p>Only a committed write says that the session lives: pings and reads are answered by any server, also by one that
     * is cut off from the leader, while the leader counts the session's time. And the leader's count need not begin with
     * the write: a server reports who was there by its next ping only, up to half a tick later, and may die before. A session is
     * 2 ticks at least, so a third of it covers that, and what clocks differ.
     */
    long promiseMillis() {
        return timeoutMillis() * 2L / 3;
    }

    CompletableFuture<Created> create(String path, byte[] data, CreateMode mode) {
        CompletableFuture<Created> reply = new CompletableFuture<>();
        AsyncCallback.Create2Callback callback = (code, asked, context, name, stat) ->
                settle(reply, code, asked, name == null ? null : new Created(name, stat));
        handle.create(path, data, access, mode, callback, null);
        return reply;
    }

    /** @param watcher told of the next change of what is asked for; may be null */
    CompletableFuture<List<String>> children(String path, @Nullable Watcher watcher) {
        CompletableFuture<List<String>> reply = new CompletableFuture<>();
        AsyncCallback.ChildrenCallback callback =
                (code, asked, context, children) -> settle(reply, code, asked, children);
        handle.getChildren(path, watcher, callback, null);
        return reply;
    }

    CompletableFuture<Stat> write(String path, byte[] data) {
        CompletableFuture<Stat> reply = new CompletableFuture<>();
        handle.setData(path, data, -1, (code, asked, context, stat) -> settle(reply, code, asked, stat), null);
        return reply;
    }

    CompletableFuture<Node> read(String path) {
        CompletableFuture<Node> reply = new CompletableFuture<>();
        AsyncCallback.DataCallback callback = (code, asked, context, data, stat) -> settle(
                reply,
                code,
                asked,
                stat == null ? null : new Node(data == null ? "" : new String(data, StandardCharsets.US_ASCII), stat));
        handle.getData(path, false, callback, null);
        return reply;
    }

    CompletableFuture<Boolean> delete(String path) {
        CompletableFuture<Boolean> reply = new CompletableFuture<>();
        handle.delete(path, -1, (code, asked, context) -> settle(reply, code, asked, true), null);
        return reply;
    }

    /** What is sent after this sees what any client was told before it. */
    void sync(String path) {
        handle.sync(path, (code, asked, context) -> {}, null);
    }

    /** Deletes one node and creates another, or does neither. The stage has the path of the new one. */
    CompletableFuture<String> replace(String old, String path, byte[] data, CreateMode mode) {
        List<Op> steps = new ArrayList<>();
        steps.add(Op.delete(old, -1));
        steps.add(Op.create(path, data, access, mode));
        return together(steps).thenApply(results -> ((OpResult.CreateResult) results.get(1)).getPath());
    }

    /** Creates a node and deletes it in one step: whether that is allowed. */
    CompletableFuture<List<OpResult>> probe(String path) {
        return together(List.of(Op.create(path, new byte[0], access, CreateMode.EPHEMERAL), Op.delete(path, -1)));
    }

    private CompletableFuture<List<OpResult>> together(List<Op> steps) {
        CompletableFuture<List<OpResult>> reply = new CompletableFuture<>();
        AsyncCallback.MultiCallback callback = (code, asked, context, results) -> settle(reply, code, asked, results);
        handle.multi(steps, callback, null);
        return reply;
    }

    /** A node that was created; its name has the sequence number at its end. */
    record Created(String path, Stat stat) {}

    record Node(String data, Stat stat) {}

    private static <T> void settle(CompletableFuture<T> reply, int code, @Nullable String path, @Nullable T value) {
        if (code == Code.OK.intValue() && value != null) {
            reply.complete(value);
        } else {
            Code known = Code.get(code);
            reply.completeExceptionally(KeeperException.create(known == null ? Code.SYSTEMERROR : known, path));
        }
    }
}
