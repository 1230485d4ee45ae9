package io.holdfast.sql;

/**
 * Where the table of locks is on PostgreSQL.
 *
 * @param system identifies the data of a cluster: the same after a restart, and on its standbys; empty if not known
 * @param database identifies the database in the cluster
 * @param server when the server started, in microseconds since 1970: tells a primary from its old self and from a standby
 * @param table the table of locks, with its schema
 */
record Place(String system, long database, long server, String table) {

    private static final String HERE = "(SELECT oid::BIGINT FROM pg_database WHERE datname = current_database()), "
            + LockTable.standardMicros("pg_postmaster_start_time()");

    private static final String SYSTEM = "(SELECT system_identifier::TEXT FROM pg_control_system())";

    /** The expressions of database and server on any connection. */
    static String here() {
        return HERE;
    }

    /** Asks for the place of a connection, without a table. */
    static String question(boolean withSystem) {
        return "SELECT " + (withSystem ? SYSTEM : "''") + ", " + HERE;
    }

    /** Asks for the place of the store's own table. */
    static String ownQuestion(boolean withSystem) {
        return question(withSystem)
                + ", (SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) FROM pg_class c"
                + " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = '" + LockTable.TABLE + "'::regclass)";
    }

    boolean isOnServer(long otherDatabase, long otherServer) {
        return database == otherDatabase && server == otherServer;
    }

    /** Returns whether a connection of this place reaches the same data, now or after a failover. */
    boolean isSameData(String otherSystem, long otherDatabase, long otherServer) {
        return database == otherDatabase && (system.isEmpty() ? server == otherServer : system.equals(otherSystem));
    }

    boolean isSameTable(Place other) {
        return isSameData(other.system, other.database, other.server) && table.equals(other.table);
    }
}
