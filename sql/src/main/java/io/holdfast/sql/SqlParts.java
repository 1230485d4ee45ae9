package io.holdfast.sql;

import java.util.function.LongUnaryOperator;

/**
 * What a store and its view of pools share.
 *
 * @param random returns a random number below a bound
 */
record SqlParts(
        SqlSettings settings,
        SqlErrors errors,
        LockTable table,
        Workers workers,
        Messages messages,
        Receivers receivers,
        Holds holds,
        SqlCards cards,
        Places places,
        Purge purge,
        SqlDiagnosis diagnosis,
        LongUnaryOperator random)
        implements AutoCloseable {

    @Override
    public void close() {
        purge.close();
        messages.close();
        workers.close();
    }
}
