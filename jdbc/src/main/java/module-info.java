/** A guard in the database: it refuses the transactions of old lock holders. */
module io.holdfast.jdbc {
    requires transitive io.holdfast.core;
    requires transitive java.sql;
    // Its guard is used where locks and data are in one database.
    requires static io.holdfast.sql;
    requires static transitive org.jspecify;

    exports io.holdfast.jdbc;
}
