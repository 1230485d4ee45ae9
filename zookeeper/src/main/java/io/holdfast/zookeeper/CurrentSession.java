package io.holdfast.zookeeper;

import io.holdfast.spi.DaemonThreads;
import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.apache.curator.framework.state.ConnectionState;
import org.jspecify.annotations.Nullable;

/**
 * Holds the session on which commands are sent. They are sent on the session itself, without Curator: it would send
 * some of them twice, and the engine knows better what to do about a command that failed.
 */
final class CurrentSession {

    private static final System.Logger LOG = System.getLogger("io.holdfast.zookeeper");

    /** How long a failed opening looks for its reason. */
    private static final int REASON_MILLIS = 3_000;

    /** How long closing waits for the servers' answers. */
    static final int CLOSE_MILLIS = 2_000;

    private final ZooKeeperErrors errors;
    private final Connector connector;
    private final Function<Handle, Session> sessions;
    private final Runnable reconnected;
    private final LongConsumer sessionOver;
    private final ReentrantLock adopting = new ReentrantLock();
    private final Condition adopted = adopting.newCondition();
    private volatile @Nullable Session session; // written by lock
    private volatile boolean connected; // made true by lock
    private final AtomicInteger reconnections = new AtomicInteger();

    /** Whether the session is known to have ended, and there is no other yet. */
    private volatile boolean over;

    private volatile boolean closed;

    /**
     * @param sessions makes a session for a handle that has an established one
     * @param reconnected runs when the connection is back after a loss, so that messages may have been missed
     * @param sessionOver receives the id of a session on whose nodes nothing may rely any more
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

    /**
     * Waits until there is a session, for a bounded time. A first connection may break at once; then waits for the
     * next.
     */
    Session connect(long millis) {
        connector.start();
        try {
            if (awaitConnected(millis)) {
                return get();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw errors.interrupted(e);
        }
        throw errors.unreachable(millis, connector.reason(REASON_MILLIS));
    }

    private boolean awaitConnected(long millis) throws InterruptedException {
        adopting.lockInterruptibly();
        try {
            long left = TimeUnit.MILLISECONDS.toNanos(millis);
            while (!connected && left > 0) {
                left = adopted.awaitNanos(left);
            }
            return connected;
        } finally {
            adopting.unlock();
        }
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

    /** Returns the timeout that was negotiated for the last session; zero if there was none. */
    long timeoutMillis() {
        Session now = session;
        return now == null ? 0 : now.timeoutMillis();
    }

    /** Returns the session's state, id and timeout for people. */
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
     * Ends the session, and all its nodes with it. Waits for that for a bounded time, as Curator itself would wait for
     * servers that hang. Does not throw.
     */
    void close() {
        try {
            beginToClose().join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends the session, and all its nodes with it. Returns the thread that does so. */
    Thread beginToClose() {
        closed = true;
        Thread closing = DaemonThreads.unstarted("holdfast-zookeeper-close", connector::close);
        closing.start();
        return closing;
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
            // This ends nothing: promises count from confirmed writes.
            case SUSPENDED, READ_ONLY -> connected = false;
            case LOST -> {
                Session ended = session;
                // A late event may be about the session before, if an earlier event has found the next session's
                // handle. If it is about this session, whose handle does not know it yet, the next session's event ends
                // it.
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
                // The event is late and the handle is newer. Commands on it would wait for a session whose id is not
                // known yet.
                connected = false;
                return;
            }
            Session before;
            adopting.lock();
            try {
                // A second Session object of the same session would not receive what the first one watches.
                before = session;
                if (before == null || !before.isOf(handle)) {
                    session = sessions.apply(handle);
                }
                over = false;
                connected = true;
                adopted.signalAll();
            } finally {
                adopting.unlock();
            }
            if (before != null && before.id() != handle.sessionId()) {
                sessionOver.accept(before.id());
            }
        } catch (Exception e) {
            // The connection is lost again. There will be another event.
            LOG.log(System.Logger.Level.DEBUG, "no session yet", e);
        }
    }
}
