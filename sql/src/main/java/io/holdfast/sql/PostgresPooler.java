package io.holdfast.sql;

import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.PGConnection;

/** What only PostgreSQL's own driver says and does. */
final class PostgresPooler {

    private PostgresPooler() {}

    /** Returns whether a pooler answers instead of the server: it makes process numbers of its own. */
    static boolean isBetween(Connection connection, int serversPid) throws SQLException {
        return connection.unwrap(PGConnection.class).getBackendPID() != serversPid;
    }

    static void prepareNothing(Connection connection) throws SQLException {
        connection.unwrap(PGConnection.class).setPrepareThreshold(0);
    }
}
