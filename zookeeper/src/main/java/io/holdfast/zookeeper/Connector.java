package io.holdfast.zookeeper;

import java.util.function.Consumer;
import org.apache.curator.framework.state.ConnectionState;

/** Connects to the ensemble, and makes a new session when one is over. Implemented by Curator and by a simulation. */
interface Connector {

    /** Registers the receiver of changes. Called once, first. Changes come one at a time, in order, possibly late. */
    void listen(Consumer<ConnectionState> changed);

    /** Begins to connect and waits for at most that time; returns false if there is no connection then. */
    boolean connect(long millis) throws InterruptedException;

    /** Returns the current handle. Each session has another one. */
    Handle handle() throws Exception;

    /** Ends the session. May block for a long time. */
    void close();
}
