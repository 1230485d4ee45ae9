package io.holdfast.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.util.concurrent.CompletionStage;

/**
 * The connections of one store to whatever servers there are. What opens a store makes one; the store sends all its
 * commands through it and knows no server.
 *
 * <p><b>Every implementation guarantees:</b>
 *
 * <ul>
 *   <li><b>No command is sent twice.</b> The driver's replay is off. A command that was on its way when its connection
 *       was lost fails, as unknown; one that cannot be sent now fails at once, as surely not executed. What to do about
 *       either is the caller's (the engine repeats it under the same holder id). A redirection within a cluster is no
 *       second execution: the node that redirects has done nothing.
 *   <li><b>No command waits for another connection.</b> Each fails at the latest when the timeout is over.
 *   <li><b>Lost connections come back by themselves</b>, the first try after some 10 ms, then at least every second.
 *       A connection on which nothing arrives for a heartbeat and the timeout counts as lost. Scripts may be unknown to
 *       the server that is found then, and its clock is another: {@link #clock} starts anew.
 *   <li><b>After a failover</b> commands go to the new master as soon as this client can know it; what an implementation
 *       goes by is said there. {@link #failed} helps it to find out.
 * </ul>
 */
interface RedisConnections extends AutoCloseable {

    /**
     * The commands of the shared connection, or in a cluster of the shared connections: each command goes to the master
     * of its first key's slot. Fails instead of waiting while there is no connection. Nothing that blocks a connection
     * or has a state in it (WATCH, MULTI, WAIT, BLPOP) may be sent through this.
     */
    RedisClusterAsyncCommands<String, String> commands();

    /**
     * A new connection to the master of a key's slot, the caller's alone, who closes it. It stays with that server: after
     * a failover or when the slot has moved, its commands fail or are redirected (MOVED), and the caller opens another.
     * When it is lost, it does not come back: nobody would notice that what it watched is not watched any more.
     */
    CompletionStage<StatefulRedisConnection<String, String>> dedicated(String key);

    /**
     * An estimate of the clock of the server that executes commands on a key now. It knows nothing until it has seen a
     * time of that server.
     */
    ServerClock clock(String key);

    /** Takes note that a command on a key failed: perhaps it went to the wrong server. Does not block. */
    void failed(String key, Throwable error);

    /** Closes the shared connections and ends the threads. Waits a bounded time for that; does not throw. */
    @Override
    void close();
}
