/** A database as the store: locks in the rows of a table. */
module io.holdfast.sql {
    requires io.holdfast.core;
    requires java.sql;
    // For messages between clients; H2 needs none of it. The driver is the user's.
    requires static org.postgresql.jdbc;
    requires static org.jspecify;

    exports io.holdfast.sql;

    provides io.holdfast.spi.LockStoreProvider with
            io.holdfast.sql.SqlLockStoreProvider;
}
