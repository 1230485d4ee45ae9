/**
 * A guard in the database. A lease may end between the last look at it and the commit of the work under it; the guard
 * makes the database refuse such a commit, once a later holder has worked.
 *
 * <p>{@link io.holdfast.jdbc.JdbcGuard} keeps one row for each lock name, with the largest fencing token that was used.
 * A transaction begins with raising the row to the token of its own lease, and the lock on the row lasts to the commit.
 * For one name, the guarded transactions that commit therefore do so one after the other, in the order of their tokens.
 *
 * <p>{@link io.holdfast.jdbc.JdbcOnce} commits a key and a result together with the work for that key, so that the work
 * is done once.
 */
@NullMarked
package io.holdfast.jdbc;

import org.jspecify.annotations.NullMarked;
