package io.holdfast.zookeeper;

import java.util.function.Consumer;
import org.apache.curator.framework.state.ConnectionState;
import org.jspecify.annotations.Nullable;

/** Connects to the ensemble, and makes a new session when one is over. Implemented by Curator and by a simulation. */
interface Connector {

    /** Registers the receiver of changes. Called once, first. Changes come one at a time, in order, possibly late. */
    void listen(Consumer<ConnectionState> changed);

    /** Begins to connect. */
    void start();

    /** Finds out why no connection was made, for at most that time; returns null if there is no hint. */
    default @Nullable Throwable reason(long millis) {
        return null;
    }

    /** Returns the current handle. Each session has another one. */
    Handle handle() throws Exception;

    /** Ends the session. May block for a long time. */
    void close();
}
