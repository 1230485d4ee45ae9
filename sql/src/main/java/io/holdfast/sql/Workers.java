package io.holdfast.sql;

import io.holdfast.spi.StoreException;
import java.sql.SQLException;
import java.util.concurrent.CompletionStage;

/** Runs commands on connections. Nobody's thread waits for a connection, and no connection waits for a lock. */
interface Workers extends AutoCloseable {

    interface Task<T> {
        T run(Link link) throws SQLException;
    }

    interface Connector {
        /**
         * Opens a connection.
         *
         * @throws StoreException if there is none
         */
        Link connect();
    }

    default <T> CompletionStage<T> submit(Task<T> task) {
        return submit(task, false);
    }

    /** Runs a command. The stage ends with a {@link StoreException} if the database did not answer. */
    <T> CompletionStage<T> submit(Task<T> task, boolean renewal);

    @Override
    void close();
}
