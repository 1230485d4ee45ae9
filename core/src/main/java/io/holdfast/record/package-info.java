/**
 * A name as a pure value, and the decision of each command on it: what stores do that keep a name as one record and
 * write it whole. The memory store keeps such records in a map; {@code holdfast-sql} keeps them in the rows of a table.
 * So one class decides for both, and what is proved about it holds for both.
 *
 * <p>Not for users: the module exports this package to our own stores only, so it may change at any time.
 */
@NullMarked
package io.holdfast.record;

import org.jspecify.annotations.NullMarked;
