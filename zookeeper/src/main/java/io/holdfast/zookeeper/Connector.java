package io.holdfast.zookeeper;

import java.util.function.Consumer;
import org.apache.curator.framework.state.ConnectionState;

/** What connects to the ensemble, and makes a new session when one is over: Curator; the simulation has another. */
interface Connector {

    /** Called once, before the rest. Changes are told one at a time, in their order, some time after they happened. */
    void listen(Consumer<ConnectionState> changed);

    /** Begins to connect, and waits for that for a bounded time; false if there is no connection then. */
    boolean connect(long millis) throws InterruptedException;

    /** The handle in use now; another one for each session that was over. */
    Handle handle() throws Exception;

    /** Ends the session. May take long. */
    void close();
}
