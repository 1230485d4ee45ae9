package io.holdfast.sql;

import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.DaemonThreads;
import io.holdfast.spi.StoreException;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Messages by NOTIFY, on a connection of its own from the first acquire on. While it is broken no message arrives, and
 * waiters learn what they need at their next poll.
 */
final class PostgresMessages implements Messages {

    /** So long a dead connection may go unnoticed. */
    private static final int QUIET_MILLIS = 10_000;

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Workers.Connector connector;
    private final Receivers receivers;
    private final String channel;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition closing = lock.newCondition();
    private final CompletableFuture<Boolean> begun = new CompletableFuture<>();
    private boolean started; // by lock
    private boolean closed; // by lock
    private @Nullable Link link; // by lock

    PostgresMessages(Workers.Connector connector, Receivers receivers, String client) {
        this.connector = connector;
        this.receivers = receivers;
        this.channel = Notes.channel(client);
    }

    @Override
    public CompletionStage<Boolean> start() {
        if (begun.isDone()) {
            return begun;
        }
        lock.lock();
        try {
            if (!started && !closed) {
                started = true;
                DaemonThreads.unstarted("holdfast-sql-listen", this::listen).start();
            }
        } finally {
            lock.unlock();
        }
        return begun;
    }

    private void listen() {
        boolean again = false;
        while (!isClosed()) {
            try (Link open = connector.connect()) {
                if (!keep(open)) {
                    return;
                }
                try (Statement statement = open.connection().createStatement()) {
                    statement.execute("LISTEN \"" + channel.replace("\"", "\"\"") + "\"");
                }
                begun.complete(true);
                if (again) {
                    receivers.reconnected();
                }
                again = true;
                receive(open);
            } catch (SQLException | StoreException e) {
                // The commands report what is wrong with the database. Without messages, waiters poll.
            } finally {
                begun.complete(false);
            }
            pause();
        }
    }

    private void receive(Link open) throws SQLException {
        PGConnection connection = open.connection().unwrap(PGConnection.class);
        while (true) {
            PGNotification[] notes = connection.getNotifications(QUIET_MILLIS);
            if (isClosed()) {
                return;
            }
            if (notes == null || notes.length == 0) {
                open.query("SELECT 1", result -> true);
                continue;
            }
            for (PGNotification note : notes) {
                deliver(note.getParameter());
            }
        }
    }

    private void deliver(String text) {
        Notes.Note note;
        try {
            note = Notes.parse(text);
        } catch (RuntimeException e) {
            // Anybody may send to any channel; what is not ours means nothing.
            return;
        }
        receivers.deliver(note.pool(), note.message());
    }

    private boolean keep(Link open) {
        lock.lock();
        try {
            link = open;
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    private boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    private void pause() {
        lock.lock();
        try {
            long left = PAUSE_NANOS;
            while (!closed && left > 0) {
                left = closing.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    /** Does nothing: the client that serves an entry sends the grant. */
    @Override
    public void waiting(AcquireRequest request, boolean pool, Row stampedIn, int ahead) {}

    @Override
    public void served(String holderId) {}

    /** Ends the connection at once, since a thread waits in it. */
    @Override
    public void close() {
        Link open;
        lock.lock();
        try {
            closed = true;
            open = link;
            closing.signalAll();
        } finally {
            lock.unlock();
        }
        begun.complete(false);
        if (open != null) {
            open.abort();
        }
    }
}
