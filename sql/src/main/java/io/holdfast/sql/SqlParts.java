package io.holdfast.sql;

/** What a store and its view of pools share. */
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
        SqlDiagnosis diagnosis)
        implements AutoCloseable {

    @Override
    public void close() {
        purge.close();
        messages.close();
        workers.close();
    }
}
