package io.holdfast.redis.connect;

import io.holdfast.redis.messages.Publishing;
import io.holdfast.redis.messages.RedisMessages;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.ServerClock;
import io.holdfast.redis.server.ServerId;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Holds the connections of one store to its servers, in any topology. The store sends all its commands through this
 * interface and knows no server.
 *
 * <p><b>Every implementation guarantees:</b>
 *
 * <ul>
 *   <li><b>No command is sent twice.</b> The driver's replay is off. A command that was on its way when its connection
 *       was lost fails, as unknown; one that cannot be sent now fails at once, as certainly not executed. The caller
 *       decides what to do then (the engine repeats it under the same holder id). A redirection within a cluster is no
 *       second execution: the node that redirects has done nothing.
 *   <li><b>No command waits for another connection.</b> Each command fails at the latest after the timeout.
 *   <li><b>Lost connections come back by themselves</b>, the first try after some 10 ms, then at least every second. A
 *       connection on which nothing arrives for a heartbeat and the timeout counts as lost. The next server may not
 *       know the scripts, and it has another clock: {@link #clock} starts again.
 *   <li><b>After a failover</b> commands go to the new master as soon as this client can know it; each implementation
 *       says how. {@link #failed} helps it to find out.
 * </ul>
 */
public interface RedisConnections extends AutoCloseable {

    /**
     * Sets an action that runs on an I/O thread each time before a lost connection for commands takes commands again.
     * To be called before {@link #connect}.
     */
    void onConnecting(Runnable connecting);

    /**
     * Connects to the server; in a cluster, to the masters that answer in time. To be called once, before the other
     * methods.
     *
     * @param reconnected runs on an I/O thread each time a lost connection for commands is back
     */
    CompletionStage<Void> connect(Runnable reconnected);

    /**
     * Returns the commands of the shared connection. In a cluster there is one for each master, and a command goes to
     * the master of its first key's slot. A command fails instead of waiting while there is no connection. Commands
     * that block a connection or leave a state in it (WATCH, MULTI, WAIT, BLPOP) must not be sent here.
     */
    RedisClusterAsyncCommands<String, String> commands();

    /**
     * Returns the commands of the server that executes commands on a key now, for a command that has no key: in a
     * cluster, {@link #commands} would send that to any node.
     */
    default CompletionStage<RedisClusterAsyncCommands<String, String>> commands(String key) {
        return CompletableFuture.completedFuture(commands());
    }

    /** Returns the commands of each connected master, for commands that concern a server. */
    List<RedisClusterAsyncCommands<String, String>> servers();

    /**
     * Makes a connection to the master of a key's slot for the caller alone, who closes it. It never leads to another
     * server: its commands fail once it is lost, and are refused (READONLY, MOVED) once the server is demoted or the
     * slot moves. The caller then opens another. A connection on which nothing arrives for a heartbeat and the timeout
     * is closed, even when no command was sent.
     */
    CompletionStage<StatefulRedisConnection<String, String>> dedicated(String key);

    /**
     * Makes the connections for messages. To be called once, after {@link #connect}.
     *
     * @param publishing how all clients' scripts send messages
     * @return completes when this client's channel is subscribed to; fails if the server refuses that, and the
     *     subscriptions are then tried again at each {@link #beat}
     */
    CompletionStage<Void> subscribe(RedisKeys keys, String clientId, Publishing publishing, RedisMessages messages);

    /**
     * Returns a number that is equal for keys that one script may touch together: the key's slot in a cluster,
     * otherwise 0.
     */
    int group(String key);

    /** Returns whether the server that executes commands on a key is connected now. */
    boolean reaches(String key);

    /** Returns the server that executes commands on a key now. */
    ServerId server(String key);

    /**
     * Returns an estimate of the clock of the server that executes commands on a key now; unknown until a reply of that
     * server has contained its time.
     */
    ServerClock clock(String key);

    /** Returns how long a command that was certainly not executed is repeated before its failure is reported. */
    Duration patience();

    /** Records that a command on a key failed, perhaps at the wrong server. Does not block. */
    void failed(String key, Throwable error);

    /** Keeps each shared connection alive. Does not block. */
    void beat();

    /** Closes the shared connections and ends the threads. Waits for a bounded time; does not throw. */
    @Override
    void close();
}
