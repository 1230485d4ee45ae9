/**
 * The hold behind a lease, for a store whose locks are in the same database as the user's data: there a transaction can
 * lock the row of the hold itself. And for the guard in any database, which tells a lock from a read-write lock.
 *
 * <p>Not for users: the module exports this package to our own modules only, so it may change at any time.
 */
@NullMarked
package io.holdfast.hold;

import org.jspecify.annotations.NullMarked;
