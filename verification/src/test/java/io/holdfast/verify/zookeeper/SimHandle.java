package io.holdfast.verify.zookeeper;

import io.holdfast.spi.TimeSource;
import io.holdfast.verify.zookeeper.SimCommand.Answer;
import io.holdfast.verify.zookeeper.SimCommand.Content;
import io.holdfast.verify.zookeeper.SimCommand.Write;
import io.holdfast.zookeeper.VerifyZooKeeper;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.DeleteRequest;
import org.jspecify.annotations.Nullable;

/**
 * ZooKeeper's handle, as {@code ClientCnxn} does it: one session, connected to one server after the other; pings;
 * watches that are set again after a reconnection; an event thread of its own. What is under way fails when the
 * connection ends, and what is sent without one waits for the next attempt to connect.
 */
final class SimHandle implements VerifyZooKeeper.Commands {

    private enum State {
        CONNECTING,
        CONNECTED,
        CLOSED
    }

    private record Packet(
            SimCommand command,
            Consumer<Answer> callback,
            @Nullable Watcher watcher) {}

    private final SimEnsemble ensemble;
    private final SimClient process;
    private final TimeSource time;
    private final Consumer<KeeperState> changed;
    private final int wanted;
    private final ArrayDeque<Packet> outgoing = new ArrayDeque<>();
    private final ArrayDeque<Packet> pending = new ArrayDeque<>();
    private final ArrayDeque<Runnable> arrived = new ArrayDeque<>();
    private final ArrayDeque<Runnable> events = new ArrayDeque<>();
    private final Map<String, Set<Watcher>> watches = new TreeMap<>();
    private final Map<String, Set<Watcher>> dataWatches = new TreeMap<>();
    private State state = State.CONNECTING;
    private @Nullable SimConnection connection;
    private long id;
    private int agreed;
    private long seenZxid;
    private long heardNanos;
    private long sentNanos;
    private long eventNanos;
    private int attempt;

    SimHandle(SimEnsemble ensemble, SimClient process, int wanted, Consumer<KeeperState> changed) {
        this.ensemble = ensemble;
        this.process = process;
        this.time = process.time();
        this.wanted = wanted;
        this.changed = changed;
        connectIn(ensemble.upTo(1_000_000));
    }

    SimClient process() {
        return process;
    }

    // --- commands ---

    @Override
    public long sessionId() {
        return id;
    }

    @Override
    public int sessionTimeout() {
        return agreed;
    }

    @Override
    public boolean isOver() {
        return state == State.CLOSED;
    }

    @Override
    public List<ACL> access() {
        return ZooDefs.Ids.OPEN_ACL_UNSAFE;
    }

    @Override
    public void create(String path, byte[] data, CreateMode mode, AsyncCallback.Create2Callback callback) {
        submit(new SimCommand.Create(path, data, mode), answer -> {
            SimTree.Created made = answer.value() instanceof SimTree.Created created ? created : null;
            callback.processResult(
                    answer.code(), path, null, made == null ? null : made.path(), made == null ? null : made.stat());
        });
    }

    @Override
    @SuppressWarnings("unchecked")
    public void children(String path, @Nullable Watcher watcher, AsyncCallback.ChildrenCallback callback) {
        submit(new Packet(
                new SimCommand.Children(path, watcher != null),
                answer -> callback.processResult(
                        answer.code(), path, null, answer.value() instanceof List<?> l ? (List<String>) l : null),
                watcher));
    }

    @Override
    public void write(String path, byte[] data, AsyncCallback.StatCallback callback) {
        submit(
                new SimCommand.SetData(path, data),
                answer -> callback.processResult(
                        answer.code(), path, null, answer.value() instanceof Stat stat ? stat : null));
    }

    @Override
    public void read(String path, @Nullable Watcher watcher, AsyncCallback.DataCallback callback) {
        submit(new Packet(
                new SimCommand.Read(path, watcher != null),
                answer -> {
                    Content found = answer.value() instanceof Content content ? content : null;
                    callback.processResult(
                            answer.code(),
                            path,
                            null,
                            found == null ? null : found.data(),
                            found == null ? null : found.stat());
                },
                watcher));
    }

    @Override
    public void delete(String path, AsyncCallback.VoidCallback callback) {
        submit(new SimCommand.Delete(path), answer -> callback.processResult(answer.code(), path, null));
    }

    @Override
    public void sync(String path, AsyncCallback.VoidCallback callback) {
        submit(new SimCommand.Sync(path), answer -> callback.processResult(answer.code(), path, null));
    }

    @Override
    @SuppressWarnings("unchecked")
    public void together(List<Op> steps, AsyncCallback.MultiCallback callback) {
        List<Write> writes = new ArrayList<>();
        for (Op step : steps) {
            if (step.toRequestRecord() instanceof CreateRequest create) {
                writes.add(new SimCommand.Create(
                        create.getPath(),
                        create.getData(),
                        CreateMode.fromFlag(create.getFlags(), CreateMode.PERSISTENT)));
            } else if (step.toRequestRecord() instanceof DeleteRequest delete && delete.getVersion() == -1) {
                writes.add(new SimCommand.Delete(delete.getPath()));
            } else {
                throw new IllegalStateException("not modelled: " + step.getKind());
            }
        }
        submit(
                new SimCommand.Together(List.copyOf(writes)),
                answer -> callback.processResult(
                        answer.code(), "", null, answer.value() instanceof List<?> l ? (List<OpResult>) l : null));
    }

    private void submit(SimCommand command, Consumer<Answer> callback) {
        submit(new Packet(command, callback, null));
    }

    private void submit(Packet packet) {
        switch (state) {
            case CLOSED -> fail(packet, Code.SESSIONEXPIRED);
            case CONNECTING -> outgoing.add(packet);
            case CONNECTED -> send(packet);
        }
    }

    private void send(Packet packet) {
        SimConnection now = connection;
        if (now == null) {
            throw new IllegalStateException("connected without a connection");
        }
        sentNanos = time.nanoTime();
        pending.add(packet);
        now.send(packet.command());
        if (ensemble.isCutHere()) {
            process.breakSoon();
        }
    }

    private void fail(Packet packet, Code why) {
        queue(() -> packet.callback().accept(new Answer(why.intValue(), "")));
    }

    int server() {
        SimConnection now = connection;
        return now == null ? -1 : now.server().id;
    }

    /** No command is under way. */
    boolean isQuiet() {
        return pending.isEmpty() && outgoing.isEmpty() && events.isEmpty();
    }

    /** How many watchers it keeps until it has told them something. */
    int watchers() {
        return Stream.of(watches, dataWatches)
                .flatMap(each -> each.values().stream())
                .mapToInt(Set::size)
                .sum();
    }

    // --- the connection ---

    private void connectIn(long nanos) {
        int number = ++attempt;
        time.schedule(nanos, () -> {
            if (state != State.CONNECTING || number != attempt) {
                return;
            }
            SimMember server = ensemble.anyServer();
            SimConnection asking = new SimConnection(ensemble, server, this);
            connection = asking;
            asking.ask(id, wanted, seenZxid);
            int patience = Math.max(20, (agreed == 0 ? wanted : agreed) / ensemble.size());
            time.schedule(patience * 1_000_000L, () -> {
                if (state == State.CONNECTING && connection == asking) {
                    asking.closedByClient(ensemble.coin());
                    closed(asking);
                }
            });
        });
    }

    void established(SimConnection by, long session, int timeout) {
        if (connection != by || state != State.CONNECTING) {
            return;
        }
        if (timeout == 0) {
            state = State.CLOSED;
            connection = null;
            queue(() -> changed.accept(KeeperState.Expired));
            failAll(Code.SESSIONEXPIRED);
            return;
        }
        id = session;
        agreed = timeout;
        state = State.CONNECTED;
        heardNanos = time.nanoTime();
        sentNanos = heardNanos;
        queue(() -> changed.accept(KeeperState.SyncConnected));
        if (!watches.isEmpty() || !dataWatches.isEmpty()) {
            List<String> children = List.copyOf(watches.keySet());
            List<String> data = List.copyOf(dataWatches.keySet());
            send(new Packet(new SimCommand.SetWatches(children, data, seenZxid), answer -> {}, null));
        }
        while (!outgoing.isEmpty() && state == State.CONNECTED) {
            send(outgoing.remove());
        }
        ping(by);
        listen(by);
    }

    private void ping(SimConnection by) {
        if (connection != by || state != State.CONNECTED) {
            return;
        }
        long third = agreed * 1_000_000L / 3;
        if (time.nanoTime() - sentNanos >= third) {
            send(new Packet(new SimCommand.Ping(), answer -> {}, null));
        }
        time.schedule(Math.max(1_000_000, sentNanos + third - time.nanoTime()), () -> ping(by));
    }

    private void listen(SimConnection by) {
        if (connection != by || state != State.CONNECTED) {
            return;
        }
        long left = heardNanos + agreed * 1_000_000L * 2 / 3 - time.nanoTime();
        if (left > 0) {
            time.schedule(left, () -> listen(by));
        } else if (arrived.isEmpty()) {
            breakConnection(ensemble.coin());
        } else {
            // After a pause, what waits in the socket is read first.
            time.schedule(0, () -> listen(by));
        }
    }

    void breakConnection(boolean loseWhatIsUnderWay) {
        SimConnection now = connection;
        if (now != null) {
            now.closedByClient(loseWhatIsUnderWay);
            closed(now);
        }
    }

    void closed(SimConnection by) {
        if (connection != by || state == State.CLOSED) {
            return;
        }
        connection = null;
        arrived.clear();
        boolean was = state == State.CONNECTED;
        state = State.CONNECTING;
        failAll(Code.CONNECTIONLOSS);
        if (was) {
            queue(() -> changed.accept(KeeperState.Disconnected));
        }
        connectIn(1_000_000 + ensemble.upTo(was ? 20_000_000 : 200_000_000));
    }

    private void failAll(Code why) {
        List<Packet> all = new ArrayList<>(pending);
        all.addAll(outgoing);
        pending.clear();
        outgoing.clear();
        all.forEach(packet -> fail(packet, why));
    }

    /** Ends the session if there is a way to say so; else the servers will, some time. */
    void close() {
        if (state == State.CLOSED) {
            return;
        }
        SimConnection now = connection;
        boolean was = state == State.CONNECTED;
        state = State.CLOSED;
        connection = null;
        if (now != null) {
            if (was) {
                now.send(new SimCommand.EndSession(id));
            }
            now.closedByClient(false);
        }
        failAll(Code.SESSIONEXPIRED);
    }

    /** The process has ended. */
    void die(boolean silently) {
        SimConnection now = connection;
        if (now != null) {
            if (silently) {
                now.vanish();
            } else {
                now.closedByClient(ensemble.coin());
            }
        }
        state = State.CLOSED;
        connection = null;
    }

    // --- what arrives ---

    /** Something is in the socket. It is read when the process runs. */
    void arrives(Runnable packet) {
        arrived.add(packet);
        process.deliver(() -> {
            Runnable next = arrived.poll();
            if (next != null) {
                heardNanos = time.nanoTime();
                next.run();
            }
        });
    }

    void replied(SimConnection by, Answer answer, long zxid) {
        if (connection != by) {
            return;
        }
        Packet packet = pending.remove();
        boolean ping = packet.command() instanceof SimCommand.Ping;
        if (!ping) {
            seenZxid = Math.max(seenZxid, zxid);
        }
        Watcher watcher = packet.watcher();
        if (watcher != null && answer.code() == Code.OK.intValue()) {
            if (packet.command() instanceof SimCommand.Children children) {
                watches.computeIfAbsent(children.path(), p -> new LinkedHashSet<>())
                        .add(watcher);
            } else if (packet.command() instanceof SimCommand.Read read) {
                dataWatches
                        .computeIfAbsent(read.path(), p -> new LinkedHashSet<>())
                        .add(watcher);
            }
        }
        queue(() -> packet.callback().accept(answer));
        if (packet.command() instanceof Write && answer.code() == Code.OK.intValue()) {
            process.answered();
        }
    }

    void told(SimConnection by, SimTree.Change change) {
        if (connection != by) {
            return;
        }
        EventType type = change.type();
        Set<Watcher> watching = new LinkedHashSet<>();
        if (type == EventType.NodeDeleted || type == EventType.NodeDataChanged) {
            watching.addAll(removed(dataWatches, change.path()));
        }
        if (type == EventType.NodeDeleted || type == EventType.NodeChildrenChanged) {
            watching.addAll(removed(watches, change.path()));
        }
        if (!watching.isEmpty()) {
            queue(() -> watching.forEach(
                    watcher -> watcher.process(new WatchedEvent(type, KeeperState.SyncConnected, change.path()))));
        }
    }

    private static Set<Watcher> removed(Map<String, Set<Watcher>> all, String path) {
        Set<Watcher> watching = all.remove(path);
        return watching == null ? Set.of() : watching;
    }

    /** For the event thread, which does one thing after the other. */
    private void queue(Runnable event) {
        events.add(event);
        eventNanos = Math.max(eventNanos, time.nanoTime() + process.eventDelayNanos());
        time.schedule(eventNanos - time.nanoTime(), () -> {
            Runnable next = events.poll();
            if (next != null) {
                next.run();
            }
        });
    }
}
