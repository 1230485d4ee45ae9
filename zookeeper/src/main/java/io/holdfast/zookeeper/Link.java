package io.holdfast.zookeeper;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.apache.curator.framework.state.ConnectionState;
import org.jspecify.annotations.Nullable;

/**
 * The way to the ensemble: knows the session that commands are sent on now, and tells when one is over. Commands are sent on
 * the session itself: Curator would send some of them again, and the engine knows better what to do about a command that failed.
 */
final class Link {

    private static final System.Logger LOG = System.getLogger("io.holdfast.zookeeper");
    static final int CLOSE_MILLIS = 2_000;

    private final ZooKeeperErrors errors;
    private final Connector connector;
    private final Function<Handle, Session> sessions;
    private final ReentrantLock adopting = new ReentrantLock();
    private volatile @Nullable Session session; // written by lock
    private volatile boolean connected;
    private final AtomicInteger connection = new AtomicInteger();

    /** The session is known to have ended, and there is no other yet. */
    private volatile boolean over;

    private volatile boolean closed;

    private volatile Runnable reconnected = () -> {};
    private volatile LongConsumer sessionOver = id -> {};

    /** @param sessions makes a session of a handle on which one is established */
    Link(Connector connector, ZooKeeperErrors errors, Function<Handle, Session> sessions) {
        this.connector = connector;
        this.errors = errors;
        this.sessions = sessions;
        connector.listen(this::changed);
    }

    /** @param sessionOver told the id of a session whose nodes must not be relied on any more */
    void listen(Runnable reconnected, LongConsumer sessionOver) {
        this.reconnected = reconnected;
        this.sessionOver = sessionOver;
    }

    /** Waits until there is a session, for a bounded time. */
    Session connect(long millis) {
        try {
            if (connector.connect(millis)) {
                changed(ConnectionState.CONNECTED);
                return session();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw errors.interrupted(e);
        }
        throw errors.unreachable(millis);
    }

    /** The session that commands are sent on now. */
    Session session() {
        Session now = session;
        if (closed) {
            throw errors.closed();
        }
        if (!connected || now == null) {
            throw errors.disconnected();
        }
        return now;
    }

    /** What was agreed for the last session; zero if there was none. */
    long timeoutMillis() {
        Session now = session;
        return now == null ? 0 : now.timeoutMillis();
    }

    /** For people. */
    Map<String, Object> describeSession() {
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

    /** Counts the reconnections: messages from before the last one may be missing. */
    int connection() {
        return connection.get();
    }

    /**
     * Ends the session, and with it all its nodes. Waits a bounded time for that; does not throw. Curator itself would wait
     * for servers that hang.
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
                connection.incrementAndGet();
                adopt();
                if (state == ConnectionState.RECONNECTED) {
                    reconnected.run();
                }
            }
            // Nothing ends by this: what was promised is counted from confirmed writes.
            case SUSPENDED, READ_ONLY -> connected = false;
            case LOST -> {
                Session ended = session;
                // Told late, it is about the session before, if an event before it has found the next one's handle. If
                // it is about this one, and that does not know it yet, then it is told when there is the next one.
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
                // Told late: the handle is a newer one. Commands would wait there for a session whose name they do
                // not have.
                connected = false;
                return;
            }
            Session before;
            adopting.lock();
            try {
                // Two may see the first connection at once. A second one of the same session would not hear what the
                // first one watches.
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

    /** For messages of the constructor's caller. */
    StoreException failure(Throwable error) {
        return errors.of(error);
    }
}
