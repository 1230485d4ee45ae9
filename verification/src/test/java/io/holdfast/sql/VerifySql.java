package io.holdfast.sql;

import static java.util.stream.Collectors.toMap;

import io.holdfast.record.NameRecord.Hold;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/** Opens the store on a database to the simulation: its statements go to a model. Decides nothing. */
public final class VerifySql {

    /** What is stored in a row. */
    public record Stored(
            long base,
            long version,
            String holder,
            long endMicros,
            long settings,
            long leaseMillis,
            String queue,
            String holders,
            long contended) {}

    /** A row as it was read. */
    public record Seen(Stored row, long nowMicros, long mark) {}

    /**
     * What a take did.
     *
     * @param base of the new hold; 0 if nothing was taken
     */
    public record Took(long base, Seen seen) {}

    /**
     * What a write or a release did.
     *
     * @param found the row as the statement saw it, if nothing was changed and the database tells
     */
    public record Wrote(boolean done, @Nullable Seen found) {}

    public record Wanted(String key, String holderId, long leaseMillis) {}

    public record Renew(String key, long base, String holderId, long leaseMillis, long sequence) {}

    public record Renewed(String key, String holderId, String queue, long nowMicros) {}

    /** A message to a client. */
    public record Note(String client, String text) {}

    /** A session of the model: each method before the commit is one statement, and waits for its answer. */
    public interface Session {
        @Nullable
        Took take(String key, String holderId, long leaseMillis, long notAfterMicros) throws SQLException;

        /** Returns the bases of those that were taken. */
        Map<Wanted, Long> takeAll(List<Wanted> wanted, long notAfterMicros) throws SQLException;

        void make(String key, long version) throws SQLException;

        Map<String, Seen> read(List<String> keys) throws SQLException;

        @Nullable
        Seen readLocked(String key) throws SQLException;

        /**
         * Writes a row.
         *
         * @param mark of the server that has told the row
         */
        Wrote write(String key, Stored before, long mark, Stored after, long notAfterMicros, List<Note> notes)
                throws SQLException;

        /** Returns the row with the entry; null if it was not added. */
        @Nullable
        Seen append(String key, long base, String entry, String word, String holderId, long notAfterMicros)
                throws SQLException;

        Wrote release(String key, long base, String holderId) throws SQLException;

        /** Returns those that were ended. */
        Set<Renew> releaseAll(List<Renew> holds) throws SQLException;

        List<Renewed> renew(List<Renew> renewals) throws SQLException;

        void purge() throws SQLException;

        void commit() throws SQLException;

        void begin();

        void rollback() throws SQLException;

        void close();

        boolean isClosed();

        /** The database's clock when the session was opened. */
        long openedMicros();
    }

    /** Runs commands, as the threads of the store do. */
    public interface Running {
        /**
         * Runs a command.
         *
         * @param command is given a session that is open
         */
        <T> CompletionStage<T> submit(Command<T> command, boolean renewal);
    }

    public interface Command<T> {
        T run(Session session) throws SQLException;
    }

    private static final SqlSettings SETTINGS = SqlSettings.parse(URI.create("jdbc:postgresql://simulated/locks"));
    private static final SqlErrors ERRORS = new SqlErrors(SETTINGS);

    private final Holds holds = new Holds();
    private final Receivers receivers = new Receivers(holds);
    private final Workers workers;
    private final Messages messages;
    private final LockStore store;

    /**
     * Opens the store.
     *
     * @param notifies whether clients send each other messages; otherwise they look at rows
     */
    public VerifySql(StoreContext context, Running running, boolean notifies, LongUnaryOperator random) {
        LockTable table = new ModelTable(notifies);
        workers = new ModelWorkers(running, context);
        messages = notifies ? new Listening() : new Watch(table, workers, holds, receivers, context.time(), random);
        store = SqlLockStore.of(new SqlParts(
                SETTINGS,
                ERRORS,
                table,
                workers,
                messages,
                receivers,
                holds,
                new SqlCards(table, workers, context.clientId()),
                new Places(workers),
                new Purge(table, workers, context.time(), random),
                new SqlDiagnosis(SETTINGS, VerifySql::noConnection, () -> false, context.time()),
                random));
    }

    private static Link noConnection() {
        throw new UnsupportedOperationException("nobody examines a model");
    }

    public LockStore store() {
        return store;
    }

    /** What the store makes of an error of its command. */
    public StoreException failure(SQLException error) {
        return ERRORS.ofCommand(error);
    }

    public static boolean breaksConnection(SQLException error) {
        return ERRORS.breaksConnection(error);
    }

    /** The error of a commit that no standby has confirmed. */
    public static SQLException unconfirmed() {
        return new SQLException("canceling wait for synchronous replication", SqlErrors.UNKNOWN_STATE);
    }

    public static String key(String name, boolean pool) {
        return pool ? LockKey.ofPool(name) : LockKey.of(name);
    }

    /** The bases of the holds of a row, by the holder ids. */
    public static Map<String, Long> holders(Stored row, long nowMicros) {
        if (!row.holder().isEmpty()) {
            return row.endMicros() > nowMicros ? Map.of(row.holder(), row.base()) : Map.of();
        }
        return QueueText.holds(row.holders()).stream()
                .filter(hold -> !hold.isOver(nowMicros * 1_000))
                .collect(toMap(Hold::holderId, Hold::base, (one, other) -> {
                    throw new AssertionError("a row has one holder twice, with bases " + one + " and " + other);
                }));
    }

    public static boolean anyWaits(Stored row, long nowMicros) {
        return QueueText.entries("", row.queue()).stream().anyMatch(entry -> entry.isAlive(nowMicros * 1_000));
    }

    /** The clock as a base. */
    public static long ticks(long micros) {
        return RowRecord.ticks(micros);
    }

    /** A message arrived. */
    public void deliver(String text) {
        Notes.Note note = Notes.parse(text);
        receivers.deliver(note.pool(), note.message());
    }

    /** The connection of the commands was made anew. */
    public void connecting() {
        receivers.connecting();
    }

    /** Messages arrive again. */
    public void reconnected() {
        receivers.reconnected();
    }

    public void purge() {
        var unused = workers.submit(link -> {
            session(link).purge();
            return true;
        });
    }

    /** The ids that the store takes to hold or wait. */
    public Set<String> left() {
        return holds.ids();
    }

    static Session session(Link link) {
        return ((Handler) Proxy.getInvocationHandler(link.connection())).session();
    }

    /** The connection of a session. */
    private record Handler(Session session) implements InvocationHandler {

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws SQLException {
            switch (method.getName()) {
                case "setAutoCommit" -> {
                    if (arguments != null && !(boolean) arguments[0]) {
                        session.begin();
                    }
                }
                case "commit" -> session.commit();
                case "rollback" -> session.rollback();
                case "close", "abort" -> session.close();
                case "isClosed" -> {
                    return session.isClosed();
                }
                default -> throw new UnsupportedOperationException(method.getName());
            }
            return null;
        }
    }

    private static final class ModelWorkers implements Workers {
        private final Running running;
        private final StoreContext context;
        private final IdentityHashMap<Session, Link> links = new IdentityHashMap<>();

        ModelWorkers(Running running, StoreContext context) {
            this.running = running;
            this.context = context;
        }

        @Override
        public <T> CompletionStage<T> submit(Task<T> task, boolean renewal) {
            return running.submit(session -> task.run(links.computeIfAbsent(session, this::link)), renewal);
        }

        private Link link(Session session) {
            Connection connection = (Connection) Proxy.newProxyInstance(
                    VerifySql.class.getClassLoader(), new Class<?>[] {Connection.class}, new Handler(session));
            Link link = new Link(connection, context.time());
            link.clockWas(session.openedMicros(), link.nanoTime());
            return link;
        }

        @Override
        public void close() {}
    }

    /** Messages that the model delivers. */
    private static final class Listening implements Messages {

        @Override
        public CompletionStage<Boolean> start() {
            return CompletableFuture.completedFuture(true);
        }

        @Override
        public void waiting(AcquireRequest request, boolean pool, Row stampedIn, int ahead) {}

        @Override
        public void served(String holderId) {}

        @Override
        public void close() {}
    }
}
