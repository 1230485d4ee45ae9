package io.holdfast.verify.zookeeper;

import static java.util.Objects.requireNonNull;

import io.holdfast.verify.zookeeper.SimCommand.Answer;
import io.holdfast.verify.zookeeper.SimCommand.Write;
import io.holdfast.verify.zookeeper.SimConnection.Request;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/** One server: its log, what of it was executed, and the clients that are connected to it. */
final class SimMember {

    private enum Role {
        LOOKING,
        FOLLOWING,
        LEADING
    }

    /** A write in its place. */
    record Txn(
            long zxid,
            long session,
            Write command,
            @Nullable Request request) {}

    final int id;
    final List<Txn> log = new ArrayList<>();
    SimTree tree = new SimTree();
    private final SimEnsemble ensemble;
    private final double rate;
    private int applied;
    private Role role = Role.LOOKING;

    /** Of the leader that was accepted last. */
    private long epoch;

    private @Nullable SimLeadership leads;
    private @Nullable SimPeerLink follows;
    private long heardNanos;
    private long lookingSinceNanos;
    private boolean down;
    private int incarnation;
    private long stoppedUntilNanos;
    private final Set<SimConnection> connections = new LinkedHashSet<>();
    private final Map<String, Set<SimConnection>> watches = new TreeMap<>();
    private final Map<String, Set<SimConnection>> dataWatches = new TreeMap<>();

    /** Sessions that were heard of here, and the leader has not been told. */
    private Map<Long, Integer> touched = new TreeMap<>();

    SimMember(SimEnsemble ensemble, int id, double rate) {
        this.ensemble = ensemble;
        this.id = id;
        this.rate = rate;
    }

    // --- time ---

    long clockNanos() {
        return (long) (ensemble.world.nanoTime() * rate);
    }

    /** How long something takes for all that this server's clock counts so. */
    long worldNanos(long clockNanos) {
        return (long) (clockNanos / rate) + 2;
    }

    long blockedUntilNanos() {
        return stoppedUntilNanos;
    }

    /** Not after a crash; later if it is stopped. */
    void after(long nanos, Runnable task) {
        int then = incarnation;
        ensemble.world.schedule(nanos, () -> goOn(then, task));
    }

    private void goOn(int then, Runnable task) {
        if (then != incarnation) {
            return;
        }
        if (isStopped()) {
            ensemble.blocked.until(stoppedUntilNanos, () -> goOn(then, task));
        } else {
            task.run();
        }
    }

    // --- what goes wrong ---

    boolean isStopped() {
        return stoppedUntilNanos > ensemble.world.nanoTime();
    }

    boolean isDown() {
        return down;
    }

    void stop(long nanos) {
        stoppedUntilNanos = Math.max(stoppedUntilNanos, ensemble.world.nanoTime() + nanos);
    }

    void resume() {
        stoppedUntilNanos = ensemble.world.nanoTime();
    }

    void crash(long nanos, boolean withItsMachine) {
        if (down) {
            return;
        }
        down = true;
        incarnation++;
        stoppedUntilNanos = 0;
        for (SimConnection connection : List.copyOf(connections)) {
            connection.closedByServer(!withItsMachine);
        }
        leave();
        touched.clear();
        ensemble.world.schedule(nanos, this::restart);
    }

    private void restart() {
        down = false;
        lookForLeader();
    }

    // --- roles ---

    boolean isLooking() {
        return role == Role.LOOKING && !down && !isStopped();
    }

    long lookingSinceNanos() {
        return lookingSinceNanos;
    }

    @Nullable
    SimLeadership leadership() {
        return leads;
    }

    long epoch() {
        return epoch;
    }

    long lastZxid() {
        return log.isEmpty() ? 0 : log.get(log.size() - 1).zxid();
    }

    int applied() {
        return applied;
    }

    void lookForLeader() {
        leave();
        lookingSinceNanos = ensemble.world.nanoTime();
        for (SimConnection connection : List.copyOf(connections)) {
            connection.closedByServer(true);
        }
    }

    private void leave() {
        role = Role.LOOKING;
        SimLeadership led = leads;
        leads = null;
        if (led != null) {
            led.end();
        }
        SimPeerLink link = follows;
        follows = null;
        if (link != null) {
            link.close(this);
        }
    }

    void lead(long newEpoch) {
        epoch = newEpoch;
        role = Role.LEADING;
        applyUpTo(log.size());
        touched.clear();
        leads = new SimLeadership(ensemble, this, newEpoch);
    }

    /** Takes over the leader's log: what of its own that does not have was never committed. */
    void follow(SimMember leader) {
        SimLeadership leadership = requireNonNull(leader.leadership());
        for (int i = 0; i < applied; i++) {
            if (leader.log.size() <= i || leader.log.get(i).zxid() != log.get(i).zxid()) {
                throw new IllegalStateException("a committed write would be lost: the model is wrong");
            }
        }
        epoch = leadership.epoch;
        role = Role.FOLLOWING;
        log.clear();
        log.addAll(leader.log);
        touched.clear();
        applyUpTo(leadership.committed());
        SimPeerLink link = new SimPeerLink(ensemble, leader, this);
        follows = link;
        leadership.joins(link);
        heard();
        watchLeader(link);
    }

    private void watchLeader(SimPeerLink link) {
        after(worldNanos(ensemble.tickNanos), () -> {
            if (follows != link) {
                return;
            }
            if (clockNanos() - heardNanos > SimEnsemble.SYNC_LIMIT * ensemble.tickNanos) {
                lookForLeader();
            } else {
                watchLeader(link);
            }
        });
    }

    void heard() {
        heardNanos = clockNanos();
    }

    Map<Long, Integer> takeTouched() {
        Map<Long, Integer> taken = touched;
        touched = new TreeMap<>();
        return taken;
    }

    void linkClosed(SimPeerLink link) {
        if (follows == link) {
            lookForLeader();
        } else if (leads != null) {
            leads.leaves(link);
        }
    }

    // --- execution ---

    void applyUpTo(int position) {
        while (applied < position) {
            Txn txn = log.get(applied++);
            Answer answer = tree.execute(txn.zxid(), txn.session(), txn.command());
            for (SimTree.Change change : tree.changes()) {
                tell(change);
            }
            Request request = txn.request();
            if (request != null) {
                request.committedAt(this, answer, txn.zxid());
            }
            if (txn.command() instanceof SimCommand.EndSession ended) {
                for (SimConnection connection : List.copyOf(connections)) {
                    if (connection.session() == ended.id()) {
                        connection.closedByServer(true);
                    }
                }
            }
        }
    }

    /** One event for each connection, however it watches the node. */
    private void tell(SimTree.Change change) {
        Set<SimConnection> watching = new LinkedHashSet<>();
        if (change.type() == EventType.NodeDeleted || change.type() == EventType.NodeDataChanged) {
            watching.addAll(removed(dataWatches, change.path()));
        }
        if (change.type() == EventType.NodeDeleted || change.type() == EventType.NodeChildrenChanged) {
            watching.addAll(removed(watches, change.path()));
        }
        watching.forEach(connection -> connection.tell(change));
    }

    private static Set<SimConnection> removed(Map<String, Set<SimConnection>> all, String path) {
        Set<SimConnection> watching = all.remove(path);
        return watching == null ? Set.of() : watching;
    }

    // --- clients ---

    boolean isServing() {
        return role != Role.LOOKING;
    }

    void connected(SimConnection connection) {
        connections.add(connection);
    }

    void disconnected(SimConnection connection) {
        connections.remove(connection);
        watches.values().forEach(watching -> watching.remove(connection));
        dataWatches.values().forEach(watching -> watching.remove(connection));
    }

    /** The older connection of a session that has another one here now. */
    void replaced(long session, SimConnection by) {
        for (SimConnection connection : List.copyOf(connections)) {
            if (connection != by && connection.session() == session) {
                connection.closedByServer(true);
            }
        }
    }

    void watch(String path, SimConnection connection) {
        watches.computeIfAbsent(path, p -> new LinkedHashSet<>()).add(connection);
    }

    void watchData(String path, SimConnection connection) {
        dataWatches.computeIfAbsent(path, p -> new LinkedHashSet<>()).add(connection);
    }

    void touch(long session, int timeout) {
        if (leads != null) {
            leads.touch(session, timeout);
        } else {
            touched.put(session, timeout);
        }
    }

    /** Sends something to the leader, with the way back from there; nowhere if there is none. */
    void toLeader(BiConsumer<SimLeadership, Consumer<Runnable>> message) {
        if (leads != null) {
            message.accept(leads, Runnable::run);
        } else if (follows != null) {
            SimPeerLink link = follows;
            link.toLeader(() -> {
                SimLeadership leadership = link.leader.leadership();
                if (leadership != null) {
                    message.accept(leadership, link::toFollower);
                }
            });
        }
    }

    @Override
    public String toString() {
        return "server " + id;
    }
}
