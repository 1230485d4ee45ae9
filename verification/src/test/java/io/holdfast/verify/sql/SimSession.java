package io.holdfast.verify.sql;

import io.holdfast.sql.VerifySql;
import io.holdfast.sql.VerifySql.Note;
import io.holdfast.sql.VerifySql.Renew;
import io.holdfast.sql.VerifySql.Renewed;
import io.holdfast.sql.VerifySql.Seen;
import io.holdfast.sql.VerifySql.Stored;
import io.holdfast.sql.VerifySql.Took;
import io.holdfast.sql.VerifySql.Wanted;
import io.holdfast.sql.VerifySql.Wrote;
import io.holdfast.verify.engine.SimTime;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A connection to the database with its session: its end at the client, and the one at the server. */
final class SimSession implements VerifySql.Session {

    private static final long SOCKET_TIMEOUT_NANOS = 3_000_000_000L;
    private static final long IDLE_IN_TRANSACTION_NANOS = 2_000_000_000L;

    final SimDatabase database;
    private final SimStatements statements;
    private final SimFibers fibers;
    private final SimTime time;
    private final SplittableRandom random;
    private final long opened;

    // At the server.
    final List<SimDatabase.Change> pending = new ArrayList<>();
    final List<SimDatabase.Slot> locks = new ArrayList<>();
    final List<Note> notes = new ArrayList<>();
    boolean inTransaction;

    /** A statement of it is between its beginning and its end. */
    boolean executing;

    private boolean ended;
    private long answered;

    // At the client.
    private boolean closed;
    private @Nullable SQLException why;
    private @Nullable Waiting<?> waiting;

    /** A statement whose answer the client waits for. */
    private static final class Waiting<T extends @Nullable Object> {
        private final SimFibers.Fiber fiber;
        private @Nullable T answer;
        private @Nullable SQLException error;
        private boolean over;

        Waiting(SimFibers.Fiber fiber) {
            this.fiber = fiber;
        }

        void end(@Nullable T result, @Nullable SQLException failure) {
            if (!over) {
                over = true;
                answer = result;
                error = failure;
                fiber.resume();
            }
        }
    }

    SimSession(SimDatabase database, SimFibers fibers, SimTime time, SplittableRandom random) {
        this.database = database;
        this.fibers = fibers;
        this.time = time;
        this.random = random;
        this.opened = database.nowMicros();
        long ahead = database.bug == SqlBug.CLOCK_OF_THE_CLIENT ? random.nextLong(-2_000_000, 2_000_000) : 0;
        this.statements = new SimStatements(database, ahead);
        database.opened(this);
    }

    /** A session in which the server executes a statement that the client has given up. */
    SimSession ghost() {
        return new SimSession(database, fibers, time, random);
    }

    // --- at the server ---

    boolean isEnded() {
        return ended;
    }

    /** Whether a pooler has given it a session of the server now. */
    boolean isAtWork() {
        return executing || inTransaction;
    }

    boolean inserts(SimDatabase.Slot slot) {
        return pending.stream().anyMatch(change -> change.slot() == slot && change.after() != null);
    }

    /** The only statement of a ghost is over. */
    void forget() {
        ended = true;
    }

    boolean isKnown() {
        return !ended;
    }

    void abort() {
        pending.clear();
        notes.clear();
        unlock();
    }

    void unlock() {
        List<SimDatabase.Slot> all = List.copyOf(locks);
        locks.clear();
        all.forEach(database::unlock);
    }

    /** The server ends the session, and what it was doing. */
    void serverEnds() {
        serverEnds(new SQLException("terminating connection due to administrator command", "57P01"));
    }

    private void serverEnds(SQLException error) {
        if (ended) {
            return;
        }
        ended = true;
        abort();
        time.deliver(() -> broken(error));
    }

    // --- at the client ---

    /** The connection ends, whatever the server makes of it and when. */
    void broken(SQLException error) {
        if (closed) {
            return;
        }
        closed = true;
        why = error;
        if (!ended) {
            database.world.schedule(random.nextLong(IDLE_IN_TRANSACTION_NANOS), this::serverEnds);
        }
        Waiting<?> one = waiting;
        if (one != null) {
            one.end(null, error);
        }
    }

    void broken() {
        broken(new SQLException("An I/O error occurred while sending to the backend.", "08006"));
    }

    /** Sends a statement, and waits for its answer. */
    <T extends @Nullable Object> T call(List<String> keys, SimStatement.Body<T> body, boolean unsynced)
            throws SQLException {
        SQLException ending = why;
        if (closed) {
            why = null;
            // The first statement after the end of a session that was idle meets the server's last words.
            throw ending != null && "25P03".equals(ending.getSQLState())
                    ? ending
                    : new SQLException("This connection has been closed.", "08003");
        }
        SimFibers.Fiber fiber = fibers.current();
        if (fiber == null) {
            AtomicReference<@Nullable T> answer = new AtomicReference<>();
            SimStatement<T> statement =
                    new SimStatement<>(this, keys, body, (result, error) -> answer.set(result), null);
            statement.unsynced = unsynced;
            statement.now();
            return answer.get();
        }
        return callInSteps(fiber, keys, body, unsynced);
    }

    private <T extends @Nullable Object> T callInSteps(
            SimFibers.Fiber fiber, List<String> keys, SimStatement.Body<T> body, boolean unsynced) throws SQLException {
        SimTroubles troubles = database.troubles;
        boolean alone = !inTransaction;
        int cut = random.nextDouble() < troubles.cuts ? random.nextInt(3) : -1;
        if (cut == 0) {
            broken();
            throw new SQLException("An I/O error occurred while sending to the backend.", "08006");
        }
        Waiting<T> reply = new Waiting<>(fiber);
        waiting = reply;
        answered++;
        SimStatement<T> statement = new SimStatement<>(
                this,
                keys,
                body,
                (result, error) -> {
                    if (cut < 0) {
                        database.world.schedule(delay(), () -> time.deliver(() -> reply.end(result, error)));
                    }
                    watchTransaction();
                },
                null);
        statement.unsynced = unsynced;
        boolean late = alone && random.nextDouble() < troubles.late;
        long sent = delay() + (late ? random.nextLong(15_000_000_000L) : 0);
        if (cut == 1 || late) {
            if (alone && (late || troubles.executesWhatWasCut)) {
                SimStatement<T> copy = statement.copy();
                copy.unsynced = unsynced;
                database.world.schedule(sent, () -> database.receive(copy::inSteps));
            }
        } else {
            database.world.schedule(sent, () -> database.receive(statement::inSteps));
        }
        if (alone && random.nextDouble() < troubles.duplicates) {
            SimStatement<T> copy = statement.copy();
            copy.unsynced = unsynced;
            database.world.schedule(
                    sent + random.nextLong(troubles.duplicateNanosMax), () -> database.receive(copy::inSteps));
        }
        if (cut > 0) {
            time.schedule(delay(), this::broken);
        }
        var patience = time.schedule(SOCKET_TIMEOUT_NANOS, this::broken);
        while (!reply.over) {
            fiber.await();
        }
        patience.cancel();
        waiting = null;
        statement.known();
        SQLException error = reply.error;
        if (error != null) {
            if (VerifySql.breaksConnection(error)) {
                broken(error);
            }
            throw error;
        }
        return reply.answer;
    }

    private long delay() {
        return random.nextInt(3) == 0 ? 0 : random.nextLong(database.troubles.delayNanosMax);
    }

    private void watchTransaction() {
        if (inTransaction) {
            long since = answered;
            database.world.schedule(IDLE_IN_TRANSACTION_NANOS, () -> {
                if (inTransaction && answered == since) {
                    serverEnds(new SQLException("terminating connection due to idle-in-transaction timeout", "25P03"));
                }
            });
        }
    }

    // --- the statements ---

    @Override
    public @Nullable Took take(String key, String holderId, long leaseMillis, long notAfterMicros) throws SQLException {
        boolean unsynced = database.bug == SqlBug.TAKE_NEED_NOT_BE_SYNCED;
        Took took = call(
                List.of(key),
                statement -> statements.take(statement, key, holderId, leaseMillis, notAfterMicros),
                unsynced);
        if (took != null || !database.plain) {
            return took;
        }
        Seen seen = read(List.of(key)).get(key);
        return seen == null ? null : new Took(0, seen);
    }

    @Override
    public Map<Wanted, Long> takeAll(List<Wanted> wanted, long notAfterMicros) throws SQLException {
        boolean unsynced = database.bug == SqlBug.TAKE_NEED_NOT_BE_SYNCED;
        return database.plain
                ? Map.of()
                : call(
                        wanted.stream().map(Wanted::key).distinct().toList(),
                        statement -> statements.takeAll(statement, wanted, notAfterMicros),
                        unsynced);
    }

    @Override
    public Set<Renew> releaseAll(List<Renew> holds) throws SQLException {
        return database.plain
                ? Set.of()
                : call(
                        holds.stream().map(Renew::key).distinct().toList(),
                        statement -> statements.releaseAll(statement, holds),
                        true);
    }

    @Override
    public void make(String key, long version) throws SQLException {
        call(List.of(key), statement -> statements.make(statement, key, version), false);
    }

    @Override
    public Map<String, Seen> read(List<String> keys) throws SQLException {
        Seen made = keys.size() == 1 ? statements.madeJustNow(keys.get(0)) : null;
        if (made != null) {
            return Map.of(keys.get(0), made);
        }
        return call(
                keys,
                statement -> {
                    Map<String, Seen> rows = new HashMap<>();
                    keys.forEach(key -> {
                        Seen seen = statements.read(statement, key);
                        if (seen != null) {
                            rows.put(key, seen);
                        }
                    });
                    return rows;
                },
                true);
    }

    @Override
    public @Nullable Seen readLocked(String key) throws SQLException {
        return call(List.of(key), statement -> statements.readLocked(statement, key), true);
    }

    @Override
    public Wrote write(String key, Stored before, long mark, Stored after, long notAfterMicros, List<Note> messages)
            throws SQLException {
        return call(
                List.of(key),
                statement -> statements.write(statement, key, before, mark, after, notAfterMicros, messages),
                false);
    }

    @Override
    public @Nullable Seen append(String key, long base, String entry, String word, String holderId, long notAfterMicros)
            throws SQLException {
        return database.plain
                ? null
                : call(
                        List.of(key),
                        statement -> statements.append(statement, key, base, entry, word, holderId, notAfterMicros),
                        false);
    }

    @Override
    public Wrote release(String key, long base, String holderId) throws SQLException {
        return call(List.of(key), statement -> statements.release(statement, key, base, holderId), true);
    }

    @Override
    public List<Renewed> renew(List<Renew> renewals) throws SQLException {
        List<String> keys = renewals.stream().map(Renew::key).distinct().toList();
        return call(keys, statement -> statements.renew(statement, renewals), false);
    }

    @Override
    public void purge() throws SQLException {
        List<String> keys = List.copyOf(database.keys());
        call(keys, statement -> statements.purge(statement, keys), false);
    }

    @Override
    public void begin() {
        inTransaction = true;
    }

    /** The end of the transaction: its statement changes nothing more. */
    @Override
    public void commit() throws SQLException {
        call(
                List.of(),
                statement -> {
                    statement.on.inTransaction = false;
                    return true;
                },
                false);
    }

    @Override
    public void rollback() throws SQLException {
        if (closed) {
            throw new SQLException("This connection has been closed.", "08003");
        }
        inTransaction = false;
        abort();
    }

    @Override
    public void close() {
        broken();
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    /** Whether the next statement learns why it was ended. */
    boolean hasLastWords() {
        return why != null;
    }

    @Override
    public long openedMicros() {
        return opened;
    }
}
