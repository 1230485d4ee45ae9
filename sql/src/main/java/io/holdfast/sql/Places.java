package io.holdfast.sql;

import io.holdfast.spi.StageWait;
import io.holdfast.spi.StoreException;
import java.sql.SQLException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** What a store knows of the place of its table, for transactions of the user. Thread-safe. */
final class Places {

    private static final String NO_RIGHT = "42501";

    private final Workers workers;
    private volatile @Nullable Place place;

    /** The URL of connections that reached the table's database when they were last asked; null if none is known. */
    private volatile @Nullable String shared;

    Places(Workers workers) {
        this.workers = workers;
    }

    /** @throws SQLException if the database does not answer */
    Place get() throws SQLException {
        Place known = place;
        return known != null ? known : ask();
    }

    /** Asks again: the server may have been restarted, or replaced by a standby. */
    Place ask() throws SQLException {
        try {
            Place found = StageWait.join(workers.submit(Places::ask));
            place = found;
            return found;
        } catch (CompletionException e) {
            if (e.getCause() instanceof StoreException cause) {
                throw new SQLException(cause.getMessage(), "08000", cause);
            }
            throw e;
        }
    }

    private static Place ask(Link link) throws SQLException {
        try {
            return ask(link, true);
        } catch (SQLException e) {
            if (!NO_RIGHT.equals(e.getSQLState())) {
                throw e;
            }
            return ask(link, false);
        }
    }

    private static Place ask(Link link, boolean withSystem) throws SQLException {
        Place found = link.first(
                Place.ownQuestion(withSystem),
                row -> new Place(row.getString(1), row.getLong(2), row.getLong(3), row.getString(4)));
        if (found == null) {
            throw new SQLException("the server does not say where the table is", "08000");
        }
        return found;
    }

    /** Returns the table, for messages. */
    String table() {
        Place known = place;
        return known == null ? LockTable.TABLE : known.table();
    }

    boolean isShared(String url) {
        return url.equals(shared);
    }

    void setShared(@Nullable String url) {
        shared = url;
    }
}
