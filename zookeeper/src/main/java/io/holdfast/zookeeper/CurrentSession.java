package io.holdfast.zookeeper;

import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.apache.curator.framework.state.ConnectionState;
import org.jspecify.annotations.Nullable;

/**
 * The session that commands are sent on now. Commands are sent on the session itself: Curator would send some of them
 * twice, and the engine knows better what to do about a command that failed.
 */
final class CurrentSession {

    private static final System.Logger LOG = System.getLogger("io.holdfast.zookeeper");
    static final int CLOSE_MILLIS = 2_000;

    private final ZooKeeperErrors errors;
    private final Connector connector;
    private final Function<Handle, Session> sessions;
    private final Runnable reconnected;
    private final LongConsumer sessionOver;
    private final ReentrantLock adopting = new ReentrantLock();
    private volatile @Nullable Session session; // written by lock
    private volatile boolean connected;
    private final AtomicInteger reconnections = new AtomicInteger();

    /** Whether the session is known to have ended, and there is no other yet. */
    private volatile boolean over;

    private volatile boolean closed;

    /**
     * @param sessions makes a session of a handle on which one is established
     * @param reconnected called when messages may have been missed: the connection was lost and is back
     * @param sessionOver receives the id of a session whose nodes must not be relied on any more
     */
    CurrentSession(
            Connector connector,
            ZooKeeperErrors errors,
            Function<Handle, Session> sessions,
            Runnable reconnected,
            LongConsumer sessionOver) {
        this.connector = connector;
        this.errors = errors;
        this.sessions = sessions;
        this.reconnected = reconnected;
        this.sessionOver = sessionOver;
        connector.listen(this::changed);
    }

    /** Waits until there is a session, for a bounded time. */
    Session connect(long millis) {
        try {
            if (connector.connect(millis)) {
                changed(ConnectionState.CONNECTED);
                return get();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw errors.interrupted(e);
        }
        throw errors.unreachable(millis);
    }

    /** Returns the session, or throws if there is no connection. */
    Session get() {
        Session now = session;
        if (closed) {
            throw errors.closed();
        }
        if (!connected || now == null) {
            throw errors.disconnected();
        }
        return now;
    }

    /** Returns what was agreed for the last session; zero if there was none. */
    long timeoutMillis() {
        Session now = session;
        return now == null ? 0 : now.timeoutMillis();
    }

    /** Returns its state, id and timeout for people. */
    Map<String, Object> describe() {
        Session now = session;
        String state = closed ? "closed" : now == null ? "none" : over ? "lost" : connected ? "connected" : "suspended";
        return now == null
                ? Map.of("session", state)
                : Map.of(
                        "session",
                        state,
                        "sessionId",
                        "0x" + Long.toHexString(now.id()),
                        "sessionTimeout",
                        DurationText.of(Duration.ofMillis(now.timeoutMillis())));
    }

    /** Returns the number of reconnections: messages from before the last one may be missing. */
    int reconnections() {
        return reconnections.get();
    }

    /**
     * Ends the session, and with it all its nodes. Waits a bounded time for that, as Curator itself would wait for
     * servers that hang; does not throw.
     */
    void close() {
        closed = true;
        Thread closing = new Thread(connector::close, "holdfast-zookeeper-close");
        closing.setDaemon(true);
        closing.start();
        try {
            closing.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void changed(ConnectionState state) {
        switch (state) {
            case CONNECTED, RECONNECTED -> {
                reconnections.incrementAndGet();
                adopt();
                if (state == ConnectionState.RECONNECTED) {
                    reconnected.run();
                }
            }
            // Nothing ends by this: promises count from confirmed writes.
            case SUSPENDED, READ_ONLY -> connected = false;
            case LOST -> {
                Session ended = session;
                // A late event is about the session before, if an earlier event has found the next one's handle. If it
                // is about this session, and that does not know it yet, the event of the next session says so.
                if (ended != null && ended.isOver()) {
                    connected = false;
                    over = true;
                    sessionOver.accept(ended.id());
                }
            }
        }
    }

    private void adopt() {
        try {
            Handle handle = connector.handle();
            if (handle.sessionId() == 0) {
                // A late event: the handle is a newer one. Commands would wait there for a session whose name they do
                // not have.
                connected = false;
                return;
            }
            Session before;
            adopting.lock();
            try {
                // Two threads may see the first connection at once. A second Session of the same session would not
                // receive what the first one watches.
                before = session;
                if (before == null || !before.isOf(handle)) {
                    session = sessions.apply(handle);
                }
            } finally {
                adopting.unlock();
            }
            over = false;
            connected = true;
            if (before != null && before.id() != handle.sessionId()) {
                sessionOver.accept(before.id());
            }
        } catch (Exception e) {
            // The connection has gone again; there will be another event.
            LOG.log(System.Logger.Level.DEBUG, "no session yet", e);
        }
    }
}
