package io.holdfast.zookeeper;

import java.util.function.Consumer;
import org.apache.curator.framework.state.ConnectionState;

/** Connects to the ensemble, and makes a new session when one is over: Curator, or a simulation of it. */
interface Connector {

    /** Registers the receiver of changes, once, before the rest. They come one at a time, in order, maybe late. */
    void listen(Consumer<ConnectionState> changed);

    /** Begins to connect, and waits for that for a bounded time; returns false if there is no connection then. */
    boolean connect(long millis) throws InterruptedException;

    /** Returns the handle in use now; it is another one after each end of a session. */
    Handle handle() throws Exception;

    /** Ends the session. May take long. */
    void close();
}
