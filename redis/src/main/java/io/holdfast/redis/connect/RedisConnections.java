package io.holdfast.redis.connect;

import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.ServerClock;
import io.holdfast.redis.server.ServerId;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.time.Duration;
import java.util.List;
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
public interface RedisConnections extends AutoCloseable {

    /**
     * Sets what runs on an I/O thread each time before a connection for commands that was lost takes commands again. To be called
     * before {@link #connect}.
     */
    void onConnecting(Runnable connecting);

    /**
     * Connects to every server there is; in a cluster, to those masters that answer in time. To be called once, before
     * all other methods.
     *
     * @param reconnected runs on an I/O thread each time when a connection for commands was lost and is back
     */
    CompletionStage<Void> connect(Runnable reconnected);

    /**
     * The commands of the shared connection, or in a cluster of the shared connections: each command goes to the master
     * of its first key's slot. Fails instead of waiting while there is no connection. Nothing that blocks a connection
     * or has a state in it (WATCH, MULTI, WAIT, BLPOP) may be sent through this.
     */
    RedisClusterAsyncCommands<String, String> commands();

    /** The commands of each server that may execute some, if it is connected now: for what concerns a server. */
    List<RedisClusterAsyncCommands<String, String>> servers();

    /**
     * A new connection to the master of a key's slot, the caller's alone, who closes it. It never leads to another server:
     * when it is lost, all its commands fail from then on; when the server is demoted or the slot moves, they are refused
     * (READONLY, MOVED). The caller then opens another. One on which nothing arrives for a heartbeat and the timeout is
     * closed, also when nothing was asked.
     */
    CompletionStage<StatefulRedisConnection<String, String>> dedicated(String key);

    /**
     * Makes the connections for messages. To be called once, after {@link #connect}.
     *
     * @param publishing how all clients' scripts send messages
     * @return completes when this client's channel is subscribed to; fails if the server refuses that, and the
     *     subscriptions are then tried again at each {@link Subscriptions#beat}
     */
    CompletionStage<Void> subscribe(RedisKeys keys, String clientId, Publishing publishing, RedisMessages messages);

    /**
     * Which keys one script may touch together: those for which this is equal. In a cluster their slot, which is what a
     * script's keys must have in common there.
     */
    int group(String key);

    /** Whether the server that executes commands on a key is connected now. */
    boolean reaches(String key);

    /** Returns the server that executes commands on a key now. */
    ServerId server(String key);

    /**
     * An estimate of the clock of the server that executes commands on a key now. It knows nothing until it has seen a
     * time of that server.
     */
    ServerClock clock(String key);

    /** For how long a command that was surely not executed is repeated before its failure is reported. */
    Duration patience();

    /** Takes note that a command on a key failed: perhaps it went to the wrong server. Does not block. */
    void failed(String key, Throwable error);

    /** A sign of life on each shared connection. Does not block. */
    void beat();

    /** Closes the shared connections and ends the threads. Waits a bounded time for that; does not throw. */
    @Override
    void close();
}
