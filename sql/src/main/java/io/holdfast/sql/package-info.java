/**
 * A database as the store of locks: {@link io.holdfast.sql.SqlLockStoreProvider} opens it by its JDBC URL.
 *
 * <p>A lock is one record in one row. {@code NameDecision} of the core decides each command on it; a write compares the
 * version that was read, so it changes nothing that it did not see. This is the path of a command:
 *
 * <pre>
 *  1  SqlLockStore     the commands of the SPI: which statements each of them needs
 *  2  Gathering        takes, and releases, that wait for a connection go together in one statement
 *  3  Workers          threads with one connection each; a command is one task for one of them
 *  4  Commands           reads, decides, writes; again if another client was faster
 *  5  RowRecord            a row as a record of the core, and what a command makes of the row
 *  6  LockTable            the statements: PostgresTable, MySqlTable, H2Table
 *  7  Link               the connection, and the database's time
 * </pre>
 *
 * <p>Messages between clients: {@code PostgresMessages} has NOTIFY; {@code Watch} looks at the rows where there is none.
 */
@NullMarked
package io.holdfast.sql;

import org.jspecify.annotations.NullMarked;
