package io.holdfast.sql;

import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

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

    /** Returns whether a message arrives within this time. */
    static boolean hears(Connection listening, int millis) throws SQLException {
        PGNotification[] notes = listening.unwrap(PGConnection.class).getNotifications(millis);
        return notes != null && notes.length > 0;
    }
}
