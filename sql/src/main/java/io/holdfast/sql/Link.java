package io.holdfast.sql;

import io.holdfast.spi.TimeSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connection of our own, in autocommit unless {@link #together} says otherwise, and what it knows of the database's
 * clock. Used by one thread at a time.
 */
final class Link implements AutoCloseable {

    /** A take that the database has not executed within this time of its sending is refused there. */
    static final long LATE_MICROS = 4_000_000;

    /** A row that was written longer ago has probably been changed by others. */
    private static final long JUST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** How long a statement may take from its sending to its execution more than an earlier one. */
    private static final long AHEAD_MICROS = 20_000;

    private static final int WRITTEN_MOST = 64;

    /** Servers and firewalls end connections that are idle for longer, without a word. */
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Reads one row of an answer. */
    interface Reader<T> {
        T read(ResultSet row) throws SQLException;
    }

    interface Steps<T> {
        @Nullable
        T run() throws SQLException;
    }

    /** A row, and when the answer came that it was written. */
    private record Written(Row row, long nanos) {}

    private final Connection connection;
    private final TimeSource time;

    @SuppressWarnings("serial") // nobody writes it anywhere
    private final Map<String, Written> written = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Written> eldest) {
            return size() > WRITTEN_MOST;
        }
    };

    /** The database's time in a recent answer, and when its statement was sent: the sum is never behind. */
    private long answeredMicros;

    private long sentNanos;

    /** When this client last had an answer. */
    private long usedNanos;

    private long answers;

    /** Statements around a transaction of several statements: they limit how long it may be idle. */
    private @Nullable String limit;

    private @Nullable String unlimit;

    /** Asks which session of which server this is, and the answer. Null where the driver replaces no session. */
    private @Nullable String sessionQuestion;

    private @Nullable String session;

    Link(Connection connection, TimeSource time) {
        this.connection = connection;
        this.time = time;
        this.sentNanos = time.nanoTime();
        this.usedNanos = sentNanos;
    }

    Connection connection() {
        return connection;
    }

    /**
     * Returns the instant by the database's clock after which a statement that is sent now must change nothing. May be
     * too late by a round trip, never too early unless the clock was set or this machine was suspended.
     */
    long notAfterMicros() {
        return latestMicros() + LATE_MICROS;
    }

    private long latestMicros() {
        return answeredMicros + (time.nanoTime() - sentNanos) / 1_000;
    }

    /** Takes note of a row that a statement in autocommit has left behind. */
    void wrote(String key, Row row) {
        written.put(key, new Written(row, time.nanoTime()));
    }

    /**
     * Returns the row that this connection wrote a moment ago, if it is held then as it was left. Others may have changed
     * it since: a write of it tells. Not another connection's row, as a failover may lie between.
     */
    @Nullable
    Row justWritten(String key) {
        Written last = written.remove(key);
        if (last == null || time.nanoTime() - last.nanos() > JUST_NANOS) {
            return null;
        }
        Row row = last.row().presumedAt(latestMicros() + AHEAD_MICROS);
        return row.isOver() ? null : row;
    }

    /** Takes note of the database's time in the answer to a statement that was sent at this instant. */
    void clockWas(long micros, long sentAtNanos) {
        answeredMicros = micros;
        sentNanos = sentAtNanos;
    }

    /** Returns how old the newest news of the database's clock is. */
    long sinceClockNanos() {
        return time.nanoTime() - sentNanos;
    }

    /** Returns whether the server, or a firewall, may have ended the connection meanwhile, and has. */
    boolean isDead() {
        if (time.nanoTime() - usedNanos < IDLE_NANOS) {
            return false;
        }
        try {
            usedNanos = time.nanoTime();
            return !connection.isValid(1) || isReplaced();
        } catch (SQLException e) {
            return true;
        }
    }

    /**
     * Takes note of the session. With several hosts MariaDB's driver answers to {@code isValid} by a new session, perhaps
     * on another server, which nobody has examined and prepared.
     */
    void isSession(String question) throws SQLException {
        session = first(question, row -> row.getString(1));
        sessionQuestion = question;
    }

    private boolean isReplaced() throws SQLException {
        String question = sessionQuestion;
        return question != null && !Objects.equals(session, first(question, row -> row.getString(1)));
    }

    /**
     * Throws if the driver has replaced the session, as H2's does with {@code AUTO_SERVER} when the process ends that
     * serves the file. It has sent a command again then, whose first execution may have done what the second one did not
     * find to do.
     */
    void requireSameSession() throws SQLException {
        if (isReplaced()) {
            throw new SQLException("the driver has sent a command again, in another session", SqlErrors.UNKNOWN_STATE);
        }
    }

    long nanoTime() {
        return time.nanoTime();
    }

    private void answered() {
        usedNanos = time.nanoTime();
        answers++;
    }

    /** Returns to how many statements the database has answered. */
    long answers() {
        return answers;
    }

    /** Runs a statement that answers with rows. A parameter is a Long, a String or an array of one of them. */
    <T> List<T> query(String sql, Reader<T> reader, Object... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            set(statement, parameters);
            List<T> rows = new ArrayList<>();
            try (ResultSet result = statement.executeQuery()) {
                while (result.next()) {
                    rows.add(reader.read(result));
                }
            }
            refuseWarning(statement);
            answered();
            return rows;
        }
    }

    <T> @Nullable T first(String sql, Reader<T> reader, Object... parameters) throws SQLException {
        List<T> rows = query(sql, reader, parameters);
        return rows.isEmpty() ? null : rows.get(0);
    }

    /** Runs a statement that changes rows. Returns how many. */
    int update(String sql, Object... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            set(statement, parameters);
            int changed = statement.executeUpdate();
            refuseWarning(statement);
            answered();
            return changed;
        }
    }

    /** Runs an update of one row that names a number by LAST_INSERT_ID. Returns it; 0 if no row was changed. */
    long updateNaming(String sql, Object... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)) {
            set(statement, parameters);
            if (statement.executeUpdate() == 0) {
                return 0;
            }
            refuseWarning(statement);
            answered();
            try (ResultSet keys = statement.getGeneratedKeys()) {
                if (keys.next() && keys.getLong(1) != 0) {
                    return keys.getLong(1);
                }
            }
            throw new SQLException("the driver does not tell what LAST_INSERT_ID was", SqlErrors.UNKNOWN_STATE);
        }
    }

    private void set(PreparedStatement statement, Object... parameters) throws SQLException {
        for (int i = 0; i < parameters.length; i++) {
            Object value = parameters[i];
            if (value instanceof String[] texts) {
                statement.setArray(i + 1, connection.createArrayOf("text", texts));
            } else if (value instanceof Long[] numbers) {
                statement.setArray(i + 1, connection.createArrayOf("bigint", numbers));
            } else {
                statement.setObject(i + 1, value);
            }
        }
    }

    /**
     * Throws if the server has warned. PostgreSQL calls a commit a success whose wait for its standby was cancelled:
     * no standby may have it. No other warning is expected.
     */
    private static void refuseWarning(PreparedStatement statement) throws SQLException {
        SQLWarning warning = statement.getWarnings();
        if (warning != null && "01000".equals(warning.getSQLState())) {
            throw new SQLException(warning.getMessage(), SqlErrors.UNKNOWN_STATE, warning);
        }
    }

    /** Sets the statements before and after each transaction of several statements. */
    void limitTogether(String before, String after) {
        limit = before;
        unlimit = after;
    }

    /** Runs several statements in one transaction. */
    <T> @Nullable T together(Steps<T> steps) throws SQLException {
        if (limit != null) {
            update(limit);
        }
        connection.setAutoCommit(false);
        boolean done = false;
        try {
            @Nullable T result = steps.run();
            connection.commit();
            done = true;
            return result;
        } finally {
            if (!done) {
                rollback();
            } else {
                autocommit();
            }
        }
    }

    private void autocommit() throws SQLException {
        connection.setAutoCommit(true);
        if (unlimit != null) {
            update(unlimit);
        }
    }

    private void rollback() {
        try {
            connection.rollback();
            autocommit();
        } catch (SQLException e) {
            // The connection is broken, and the transaction ends with it. The first error says why.
            close();
        }
    }

    boolean isClosed() {
        try {
            return connection.isClosed();
        } catch (SQLException e) {
            return true;
        }
    }

    /** Ends the connection while another thread uses it. */
    void abort() {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            close();
        }
    }

    /** Closes the connection. */
    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            // Nothing depends on a connection that is given up.
        }
    }
}
