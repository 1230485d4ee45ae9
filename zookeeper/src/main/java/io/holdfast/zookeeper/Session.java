package io.holdfast.zookeeper;

import io.holdfast.spi.ClockReading;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * A session of ZooKeeper, with its commands as stages. Commands are sent and executed in the order of the calls; a read
 * sees every write that was sent before it. Failures are {@link KeeperException}s; nothing is sent twice. Stages
 * complete on ZooKeeper's event thread.
 */
final class Session {

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Handle handle;
    private final SessionClock clock;
    private final PauseDetector pauses;
    private final Watches<List<String>> childWatches = new Watches<>(this::children);
    private final Watches<Node> dataWatches = new Watches<>(this::read);
    private final long id;

    /** @param handle of a session that is established */
    Session(Handle handle, SessionClock clock, PauseDetector pauses) {
        this.handle = handle;
        this.clock = clock;
        this.pauses = pauses;
        this.id = handle.sessionId();
    }

    long id() {
        return id;
    }

    /**
     * Watches the children of nodes. A node that holds or waits has none, so only its deletion triggers the watch, and
     * its holder's renewals do not.
     */
    Watches<List<String>> childWatches() {
        return childWatches;
    }

    /** Watches nodes for writes to them, and for their deletion. */
    Watches<Node> dataWatches() {
        return dataWatches;
    }

    boolean isOf(Handle other) {
        return handle.equals(other) && id == other.sessionId();
    }

    /** Returns whether the session has ended or was given up; false as long as that is not known here. */
    boolean isOver() {
        return handle.isOver();
    }

    /** Returns the timeout that was negotiated with the connected server; another server may allow another one. */
    int timeoutMillis() {
        return handle.sessionTimeout();
    }

    /**
     * Returns how long the session certainly lives after a write that is sent now, if it is committed.
     *
     * <p>Only a committed write shows that the session lives. Any server answers pings and reads, even one that is cut
     * off from the leader, while the leader counts the session's time. The {@link SessionClock} knows from when on the
     * leader counts.
     */
    Promise promise() {
        long timeout = timeoutMillis();
        ClockReading sent = ClockReading.now(clock.time());
        return new Promise(
                clock.promiseMillis(timeout, pauses.isSteady()),
                sent,
                clock.hasWrittenWithin(timeout * NANOS_PER_MILLI / 4));
    }

    /**
     * How long the session lives after a write.
     *
     * @param millis how long, counted from the sending of the write
     * @param sent when the write was sent, or just before
     * @param backed whether the leader was known to work shortly before
     */
    record Promise(long millis, ClockReading sent, boolean backed) {}

    /**
     * Returns whether a promise is reliable whose write has just been answered. A leader that was paused does not know
     * of contacts during the pause: until it has asked its followers, it may end sessions whose time has passed by its
     * clock. Say it has answered a write that was sent at most a quarter of a session before this write, and this write
     * within an eighth. Then no session's time can have passed in a pause between the two: the last report came at most
     * half a tick before the pause, and the last contact in it was made at most a third of a session before that.
     *
     * <p>Assumed: a leader that continues after a pause ends the sessions that are over before it takes the next write,
     * and is not paused twice within milliseconds.
     */
    boolean shows(Promise promise) {
        return promise.backed() && promise.sent().mostAgeNanos(clock.time()) <= timeoutMillis() * NANOS_PER_MILLI / 8;
    }

    /**
     * Returns whether a promise is long enough to be given. If not, this process was paused, and there will be a longer
     * promise a quarter of a session later.
     */
    boolean isWorth(Promise promise) {
        return promise.millis() >= timeoutMillis() / 8;
    }

    /** Returns the longest time that a promise can have. */
    long longestPromiseMillis() {
        return timeoutMillis() * 2L / 3;
    }

    /** Creates a node without data. */
    CompletableFuture<Created> create(String path, CreateMode mode) {
        return create(path, new byte[0], mode);
    }

    /** Creates an ephemeral node, to whose path the servers append a number. */
    CompletableFuture<Created> createInSequence(String path, byte[] data) {
        return create(path, data, CreateMode.EPHEMERAL_SEQUENTIAL);
    }

    private CompletableFuture<Created> create(String path, byte[] data, CreateMode mode) {
        Reply<Created> reply = new Reply<>(true);
        AsyncCallback.Create2Callback callback = (code, asked, context, name, stat) ->
                reply.settle(code, asked, name == null ? null : new Created(name, stat));
        handle.create(path, data, mode, callback);
        return reply.outcome;
    }

    /** @param watcher receives the next change of the children; may be null */
    CompletableFuture<List<String>> children(String path, @Nullable Watcher watcher) {
        Reply<List<String>> reply = new Reply<>(false);
        AsyncCallback.ChildrenCallback callback =
                (code, asked, context, children) -> reply.settle(code, asked, children);
        handle.children(path, watcher, callback);
        return reply.outcome;
    }

    CompletableFuture<Stat> write(String path, byte[] data) {
        Reply<Stat> reply = new Reply<>(true);
        handle.write(path, data, (code, asked, context, stat) -> reply.settle(code, asked, stat));
        return reply.outcome;
    }

    CompletableFuture<Node> read(String path) {
        return read(path, null);
    }

    /** @param watcher receives the next write to the node, or its deletion; may be null */
    private CompletableFuture<Node> read(String path, @Nullable Watcher watcher) {
        Reply<Node> reply = new Reply<>(false);
        AsyncCallback.DataCallback callback = (code, asked, context, data, stat) -> reply.settle(
                code,
                asked,
                stat == null ? null : new Node(data == null ? "" : new String(data, StandardCharsets.UTF_8), stat));
        handle.read(path, watcher, callback);
        return reply.outcome;
    }

    CompletableFuture<Boolean> delete(String path) {
        Reply<Boolean> reply = new Reply<>(true);
        handle.delete(path, (code, asked, context) -> reply.settle(code, asked, true));
        return reply.outcome;
    }

    /** Writes the number of a waiting node to its folder, for the holders. Completes also if that failed. */
    CompletableFuture<Boolean> announce(String folder, long number) {
        byte[] data = Long.toString(number).getBytes(StandardCharsets.US_ASCII);
        Reply<Stat> reply = new Reply<>(true);
        handle.write(folder, data, (code, asked, context, stat) -> reply.settle(code, asked, stat));
        return reply.outcome.handle((stat, error) -> error == null);
    }

    /** If this succeeds, commands sent after this call see everything that was answered to any client before it. */
    CompletableFuture<Boolean> sync(String path) {
        Reply<Boolean> reply = new Reply<>(false);
        handle.sync(path, (code, asked, context) -> reply.settle(code, asked, true));
        return reply.outcome;
    }

    /** Deletes one node and creates another as {@link #createInSequence}, or neither. Completes with the new path. */
    CompletableFuture<String> replaceInSequence(String old, String path, byte[] data) {
        List<Op> steps =
                List.of(Op.delete(old, -1), Op.create(path, data, handle.access(), CreateMode.EPHEMERAL_SEQUENTIAL));
        return together(path, steps).thenApply(results -> ((OpResult.CreateResult) results.get(1)).getPath());
    }

    /** Creates a node and deletes it in one step, to find out whether that is allowed in its folder. */
    CompletableFuture<List<OpResult>> probe(String path) {
        return together(
                path.substring(0, path.lastIndexOf('/')),
                List.of(Op.create(path, new byte[0], handle.access(), CreateMode.EPHEMERAL), Op.delete(path, -1)));
    }

    /** Creates two ephemeral nodes, or neither. */
    CompletableFuture<List<OpResult>> createBoth(String path, byte[] data, String second, byte[] secondData) {
        return together(
                path,
                List.of(
                        Op.create(path, data, handle.access(), CreateMode.EPHEMERAL),
                        Op.create(second, secondData, handle.access(), CreateMode.EPHEMERAL)));
    }

    /** Writes two nodes, or neither. */
    CompletableFuture<List<OpResult>> writeBoth(String path, byte[] data, String second, byte[] secondData) {
        return together(path, List.of(Op.setData(path, data, -1), Op.setData(second, secondData, -1)));
    }

    /** Writes a node if it and another one exist. */
    CompletableFuture<List<OpResult>> writeIf(String there, String path, byte[] data) {
        return together(path, List.of(Op.check(there, -1), Op.setData(path, data, -1)));
    }

    /** @param path the node that an error names, as ZooKeeper itself names none here */
    private CompletableFuture<List<OpResult>> together(String path, List<Op> steps) {
        Reply<List<OpResult>> reply = new Reply<>(true);
        AsyncCallback.MultiCallback callback = (code, asked, context, results) -> reply.settle(code, path, results);
        handle.together(steps, callback);
        return reply.outcome;
    }

    /** A node that was created. In a sequence, its path ends with the number. */
    record Created(String path, Stat stat) {}

    record Node(String data, Stat stat) {}

    /** The reply to a command that is about to be sent. */
    private final class Reply<T> {

        private final CompletableFuture<T> outcome = new CompletableFuture<>();
        private final ClockReading sent = ClockReading.now(clock.time());
        private final boolean writes;

        Reply(boolean writes) {
            this.writes = writes;
        }

        void settle(int code, @Nullable String path, @Nullable T value) {
            if (code == Code.OK.intValue()) {
                clock.answered(sent, timeoutMillis());
                if (writes) {
                    clock.written(sent);
                }
            }
            if (code == Code.OK.intValue() && value != null) {
                outcome.complete(value);
            } else {
                Code known = Code.get(code);
                outcome.completeExceptionally(KeeperException.create(known == null ? Code.SYSTEMERROR : known, path));
            }
        }
    }
}
