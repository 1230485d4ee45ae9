package io.holdfast.sql;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.hold.StoredHold;
import io.holdfast.record.NameMessage;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreException;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The rows of the locks that a transaction of the user depends on, in the order of their keys. */
final class GuardedRows {

    private static final String NO_TABLE = "42P01";
    private static final String NO_SCHEMA = "3F000";
    private static final String NO_RIGHT = "42501";
    private static final String READ_ONLY = "25006";

    /** The connection is not to where the locks are. */
    private static final String ELSEWHERE = "55000";

    private final Map<String, StoredHold> holds; // by key
    private final SqlLockStore store;

    /** The number of the transaction that was checked; 0 while none was, or if it is read-only. */
    private long transaction;

    private GuardedRows(Map<String, StoredHold> holds, SqlLockStore store) {
        this.holds = holds;
        this.store = store;
    }

    /** @throws IllegalArgumentException if they cannot be guarded together by a transaction */
    static GuardedRows of(Collection<? extends Lease> leases) throws SQLException {
        if (leases.isEmpty()) {
            throw new IllegalArgumentException("No lease (expected: the leases that the transaction depends on)");
        }
        Map<String, StoredHold> holds = new TreeMap<>();
        SqlLockStore store = null;
        for (Lease lease : leases) {
            if (!lease.isExclusive()) {
                throw new IllegalArgumentException("A permit or a reader's lease of " + quoted(lease.name())
                        + " cannot guard a transaction, because several are valid at once (expected: the lease of a"
                        + " lock or of a writer)");
            }
            StoredHold hold = StoredHold.of(lease);
            SqlLockStore found = storeOf(hold);
            if (hold == null || found == null) {
                throw new IllegalArgumentException("The lease on " + quoted(lease.name())
                        + " is not of a client whose locks are in PostgreSQL (expected: such a lease, or JdbcGuard"
                        + " of holdfast-jdbc)");
            }
            if (store != null
                    && !store.places().get().isSameTable(found.places().get())) {
                throw new IllegalArgumentException("The locks of the leases are in two tables, of " + store.describe()
                        + " and of " + found.describe() + " (expected: one for each transaction)");
            }
            store = found;
            StoredHold other = holds.put(LockKey.of(lease.name()), hold);
            if (other != null && !other.holderId().equals(hold.holderId())) {
                throw new IllegalArgumentException(
                        "Two holds of " + quoted(lease.name()) + " (expected: one lease for each name)");
            }
        }
        if (store == null) {
            throw new IllegalStateException("No store");
        }
        return new GuardedRows(holds, store);
    }

    /** Returns the store of a hold, if it keeps locks in PostgreSQL; otherwise null. */
    private static @Nullable SqlLockStore storeOf(@Nullable StoredHold hold) {
        return hold == null ? null : guarding(hold::store);
    }

    /** Returns the store, if it is open and keeps locks in PostgreSQL; otherwise null. */
    private static @Nullable SqlLockStore guarding(Supplier<@Nullable LockStore> asked) {
        try {
            return asked.get() instanceof SqlLockStore store && store.hasGuard() ? store : null;
        } catch (StoreException e) {
            return null;
        }
    }

    static boolean areReachedBy(Connection connection, Lease lease) throws SQLException {
        return isReachedBy(connection, lease.isExclusive() ? storeOf(StoredHold.of(lease)) : null);
    }

    /** Returns whether the rows of a client's locks can be locked. Tries it, without a row. */
    static boolean canBeLockedBy(Connection connection, LockClient client) throws SQLException {
        SqlLockStore store = guarding(() -> StoredHold.storeOf(client));
        if (store == null || !isReachedBy(connection, store)) {
            return false;
        }
        String table = store.places().get().table();
        try (Statement statement = connection.createStatement()) {
            statement
                    .executeQuery("SELECT 1 FROM " + table + " WHERE lock_key = ''"
                            + (connection.isReadOnly() ? "" : " FOR KEY SHARE"))
                    .close();
        } catch (SQLException e) {
            throw explained(e, store);
        }
        return true;
    }

    private static boolean isReachedBy(Connection connection, @Nullable SqlLockStore store) throws SQLException {
        if (store == null || !"PostgreSQL".equals(connection.getMetaData().getDatabaseProductName())) {
            return false;
        }
        Places places = store.places();
        String url = String.valueOf(connection.getMetaData().getURL());
        if (places.isShared(url)) {
            return true;
        }
        Place place = places.get();
        try (PreparedStatement statement = connection.prepareStatement(
                        Place.question(!place.system().isEmpty()));
                ResultSet row = statement.executeQuery()) {
            boolean shared = row.next()
                    && (isHere(place, row)
                            // Known by its start alone, so it may be the same one, started again since it was asked.
                            || (place.system().isEmpty() && isHere(places.ask(), row)));
            if (shared) {
                // A later connection of the URL may be to another server: the check itself notices that.
                places.setShared(url);
            }
            return shared;
        }
    }

    private static boolean isHere(Place place, ResultSet answer) throws SQLException {
        return place.isSameData(answer.getString(1), answer.getLong(2), answer.getLong(3));
    }

    /**
     * What a statement has found.
     *
     * @param queues of the rows, by their keys
     * @param nowMicros the database's clock
     */
    private record Found(long database, long server, long transaction, Map<String, String> queues, long nowMicros) {}

    void lock(Connection connection) throws SQLException {
        holds.values().forEach(StoredHold::tie);
        if (connection.isReadOnly()) {
            return;
        }
        Found found;
        try {
            found = find(connection, true);
        } catch (SQLException e) {
            throw explained(e);
        }
        if (!isHere(found)) {
            store.places().setShared(null);
            abort(connection);
            throw elsewhere(null, store);
        }
        for (Map.Entry<String, StoredHold> each : holds.entrySet()) {
            if (!found.queues().containsKey(each.getKey())) {
                abort(connection);
                throw lost(each.getValue());
            }
        }
        transaction = found.transaction();
    }

    void verify(Connection connection) throws SQLException {
        if (transaction != 0) {
            verified(connection);
        }
    }

    /**
     * Verifies the transaction, and lets its commit tell the first waiter of each name that the guard has ended. Without
     * that message the waiter asks again a quarter of a second after it was refused.
     */
    void verifyTelling(Connection connection) throws SQLException {
        if (transaction == 0) {
            return;
        }
        Found found = verified(connection);
        List<String> channels = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        found.queues().forEach((key, queue) -> {
            StoredHold hold = holds.get(key);
            if (hold != null && store.sendsMessages()) {
                QueueText.entries(hold.name(), queue).stream()
                        .filter(entry -> entry.isAlive(found.nowMicros() * 1_000))
                        .findFirst()
                        .map(entry -> new NameMessage.Freed(hold.name(), entry.holderId()))
                        .ifPresent(message -> {
                            channels.add(Notes.channel(message.client()));
                            notes.add(Notes.text(message));
                        });
            }
        });
        if (!notes.isEmpty()) {
            try (PreparedStatement statement = connection.prepareStatement("SELECT pg_notify(m.c, m.p) FROM "
                    + PostgresTable.unnest("TEXT", "TEXT") + " AS m(c, p) WHERE " + Notes.HAVE_ROOM)) {
                statement.setArray(1, connection.createArrayOf("text", channels.toArray()));
                statement.setArray(2, connection.createArrayOf("text", notes.toArray()));
                statement.executeQuery().close();
            }
        }
    }

    private Found verified(Connection connection) throws SQLException {
        Found found;
        try {
            found = find(connection, false);
        } catch (SQLException e) {
            throw explained(e);
        }
        if (found.transaction() != transaction || !found.queues().keySet().containsAll(holds.keySet())) {
            StoredHold first = holds.values().iterator().next();
            abort(connection);
            throw new LeaseLostException("The transaction must be rolled back: it is not the one that was checked for"
                    + " the lease on " + quoted(first.name())
                    + ". That one has ended before its commit, for example by an idle timeout or a ROLLBACK that was"
                    + " sent as SQL, or went back to a savepoint before its check");
        }
        return found;
    }

    private boolean isHere(Found found) throws SQLException {
        Places places = store.places();
        return places.get().isOnServer(found.database(), found.server())
                || places.ask().isOnServer(found.database(), found.server());
    }

    /** Locks the rows and answers with one row, even if there are none. A release does not end a guard. */
    private Found find(Connection connection, boolean withHolder) throws SQLException {
        String sql = "WITH h AS (SELECT h.lock_key, h.queue FROM "
                + store.places().get().table()
                + " h JOIN " + PostgresTable.unnest("TEXT", "BIGINT", "TEXT")
                + " AS r(k, b, id) ON h.lock_key = r.k AND h.base = r.b"
                + (withHolder ? " AND h.holder = r.id" : "")
                + " ORDER BY h.lock_key FOR KEY SHARE OF h) SELECT " + Place.here()
                + ", pg_current_xact_id()::TEXT::BIGINT, " + LockTable.standardMicros("clock_timestamp()")
                + ", (SELECT array_agg(lock_key || ' ' || queue) FROM h)";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setArray(
                    1, connection.createArrayOf("text", holds.keySet().toArray()));
            statement.setArray(
                    2,
                    connection.createArrayOf(
                            "bigint",
                            holds.values().stream().map(StoredHold::base).toArray()));
            statement.setArray(
                    3,
                    connection.createArrayOf(
                            "text",
                            holds.values().stream().map(StoredHold::holderId).toArray()));
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    throw new SQLException("The database did not answer the guard", ELSEWHERE);
                }
                Map<String, String> queues = new HashMap<>();
                Array array = row.getArray(5);
                if (array != null) {
                    for (Object each : (Object[]) array.getArray()) {
                        String[] part = String.valueOf(each).split(" ", 2);
                        queues.put(part[0], part[1]);
                    }
                }
                return new Found(row.getLong(1), row.getLong(2), row.getLong(3), queues, row.getLong(4));
            }
        }
    }

    /** Makes the transaction fail at the server, so that a commit of it is a rollback. */
    private static void abort(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT CAST('The guard of Holdfast refused this transaction' AS INTEGER)");
        } catch (SQLException e) {
            // As wanted. If the connection is broken instead, nothing of its transaction is committed either.
        }
    }

    private LeaseLostException lost(StoredHold hold) {
        return new LeaseLostException(
                "The transaction must be rolled back: the hold " + hold.holderId() + " of the lock "
                        + quoted(hold.name()) + " is not in " + store.places().table()
                        + ". It has ended, and somebody else may hold the lock; or the transaction's snapshot is older than the"
                        + " hold, because the transaction began before the lock was taken (expected: first the lock, then the"
                        + " transaction, whose first statement is the check)");
    }

    private SQLException explained(SQLException e) {
        return explained(e, store);
    }

    private static SQLException explained(SQLException e, SqlLockStore store) {
        String state = String.valueOf(e.getSQLState());
        return switch (state) {
            case NO_TABLE, NO_SCHEMA -> elsewhere(e, store);
            case NO_RIGHT ->
                with(
                        e,
                        "The guard locks a row of " + store.places().table()
                                + ", for which SELECT is not enough; run as the owner: GRANT SELECT, UPDATE ON "
                                + store.places().table() + " TO the user of the connection");
            case READ_ONLY ->
                with(
                        e,
                        "The guard cannot lock a row in a read-only transaction (expected: connection.setReadOnly(true),"
                                + " with which nothing is checked, or a transaction that may write)");
            default -> e;
        };
    }

    private static SQLException elsewhere(@Nullable SQLException e, SqlLockStore store) {
        String what = "The connection is to another database or another server than the locks of " + store.describe()
                + " (expected: the same database on the same primary, or JdbcGuard of holdfast-jdbc)";
        return e == null ? new SQLException(what, ELSEWHERE) : with(e, what);
    }

    private static SQLException with(SQLException e, String what) {
        return new SQLException(what + ": " + e.getMessage(), e.getSQLState(), e.getErrorCode(), e);
    }

    private static String quoted(String name) {
        return '"' + LockKey.shown(name) + '"';
    }
}
