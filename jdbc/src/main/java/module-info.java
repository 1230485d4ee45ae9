/** A guard in the database: it refuses the transactions of old lock holders. */
module io.holdfast.jdbc {
    requires transitive io.holdfast.core;
    requires transitive java.sql;
    requires static transitive org.jspecify;

    exports io.holdfast.jdbc;
}
