package io.holdfast.verify.zookeeper;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.zookeeper.VerifyZooKeeper;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.jspecify.annotations.Nullable;

/**
 * One process: the real store on a simulated handle, with what Curator does between the two. It tells of the connection
 * on a thread of its own, so late; it replaces a handle whose session is over, also one that was disconnected for the
 * length of a session, whose session may still be there.
 */
public final class SimClient implements VerifyZooKeeper.Connection {

    private final SimEnsemble ensemble;
    private final String processId;
    private final TimeSource time;
    private final Consumer<Runnable> delivery;
    private final int wantedMillis;
    private final EnsembleBug bug;
    private final VerifyZooKeeper store;
    private final ArrayDeque<ConnectionState> states = new ArrayDeque<>();
    private Consumer<ConnectionState> listener = state -> {};
    private SimHandle handle;
    private VerifyZooKeeper.Commands shown;
    private @Nullable ConnectionState last;
    private boolean connected;
    private boolean dead;
    private long stateNanos;
    private int epoch; // of the disconnection
    private Runnable afterNextWrite = () -> {};

    SimClient(
            SimEnsemble ensemble,
            String processId,
            TimeSource time,
            Consumer<Runnable> delivery,
            int wantedMillis,
            long commandTimeoutMillis,
            EnsembleBug bug) {
        this.ensemble = ensemble;
        this.processId = processId;
        this.time = time;
        this.delivery = delivery;
        this.wantedMillis = wantedMillis;
        this.bug = bug;
        URI uri = URI.create("zookeeper://simulated/locks?timeout=" + commandTimeoutMillis + "ms&sessionTimeout="
                + wantedMillis + "ms");
        boolean wrongClock = bug == EnsembleBug.PROMISE_FROM_THE_WRITE;
        store = new VerifyZooKeeper(uri, new StoreContext(processId, time), this, wrongClock);
        handle = newHandle();
        shown = WrongHandle.of(bug, handle);
    }

    private SimHandle newHandle() {
        SimHandle[] made = new SimHandle[1];
        made[0] = new SimHandle(ensemble, this, wantedMillis, state -> happened(made[0], state));
        return made[0];
    }

    // --- for the site ---

    public LockStore store() {
        return store.store();
    }

    public boolean isQuiet() {
        return handle.isQuiet();
    }

    public void breakConnection() {
        handle.breakConnection(ensemble.coin());
    }

    public void die(boolean silently) {
        dead = true;
        handle.die(silently);
    }

    /** What is left when nobody holds or waits. */
    public String left() {
        return store.size() == 0 ? "" : store.size() + " contenders";
    }

    /** Whether the store knows its session. */
    public boolean isOpen() {
        return store.isOpen();
    }

    /** The server it is connected to, or -1. */
    public int server() {
        return handle.server();
    }

    boolean isDead() {
        return dead;
    }

    int watchers() {
        return handle.watchers();
    }

    long sessionId() {
        return handle.sessionId();
    }

    /** Something that happens when the answer to the next write has come. */
    public void afterNextWrite(Runnable then) {
        afterNextWrite = then;
    }

    // --- for the handle ---

    void answered() {
        Runnable then = afterNextWrite;
        afterNextWrite = () -> {};
        ensemble.world.schedule(0, then);
    }

    TimeSource time() {
        return time;
    }

    void deliver(Runnable event) {
        delivery.accept(event);
    }

    /** How far the event thread is behind. */
    long eventDelayNanos() {
        return ensemble.slowness();
    }

    /** Somewhere on the way of what was just sent, or of its answer. */
    void breakSoon() {
        SimHandle breaking = handle;
        time.schedule(ensemble.upTo(2 * ensemble.delayNanosMax()), () -> breaking.breakConnection(ensemble.coin()));
    }

    // --- Curator ---

    @SuppressWarnings("ReferenceEquality") // of the handle that is in use, not of an equal one
    private void happened(SimHandle by, KeeperState state) {
        if (by != handle) {
            return;
        }
        switch (state) {
            case SyncConnected -> {
                connected = true;
                post(last == null ? ConnectionState.CONNECTED : ConnectionState.RECONNECTED);
            }
            case Disconnected -> {
                connected = false;
                post(ConnectionState.SUSPENDED);
                int disconnection = ++epoch;
                time.schedule(by.sessionTimeout() * 1_000_000L, () -> {
                    if (epoch == disconnection && last == ConnectionState.SUSPENDED) {
                        replace();
                    }
                });
            }
            case Expired -> replace();
            default -> throw new IllegalStateException("not modelled: " + state);
        }
    }

    private void replace() {
        connected = false;
        post(ConnectionState.LOST);
        handle.close();
        handle = newHandle();
        shown = WrongHandle.of(bug, handle);
    }

    private void post(ConnectionState state) {
        if (last == state || (last == null && state != ConnectionState.CONNECTED)) {
            return;
        }
        last = state;
        states.add(state);
        stateNanos = Math.max(stateNanos, time.nanoTime() + ensemble.slowness());
        time.schedule(stateNanos - time.nanoTime(), () -> {
            ConnectionState next = states.poll();
            if (next != null) {
                listener.accept(next);
            }
        });
    }

    @Override
    public void listen(Consumer<ConnectionState> changed) {
        listener = changed;
    }

    @Override
    public void start() {
        throw new IllegalStateException("the simulation does not wait");
    }

    @Override
    public VerifyZooKeeper.Commands handle() throws KeeperException {
        if (!connected && ensemble.coin()) {
            throw new KeeperException.ConnectionLossException();
        }
        return shown;
    }

    @Override
    public void close() {
        handle.close();
    }

    @Override
    public String toString() {
        return processId;
    }
}
