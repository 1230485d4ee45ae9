package io.holdfast.redis.lua;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.messages.Publishing;
import io.holdfast.redis.server.Log;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * Sends other clients the messages that scripts may not send: that a lock is free, that a client waits, and that
 * a hold was ended by force. A hint is
 * sent after the script, and no answer is waited for. A lost hint costs its receiver the time until its next poll.
 */
public final class Hints {

    private final RedisConnections connections;
    private final RedisKeys keys;
    private final Publishing publishing;
    private final RedisErrors errors;
    private final String server;
    private final AtomicBoolean refused = new AtomicBoolean();

    Hints(RedisConnections connections, RedisKeys keys, Publishing publishing, RedisErrors errors, String server) {
        this.connections = connections;
        this.keys = keys;
        this.publishing = publishing;
        this.errors = errors;
        this.server = server;
    }

    /** Says that the lock was left free. Redisson's clients receive it in each way in which a script would send it. */
    void released(String name, String firstWaiting) {
        tell("r", firstWaiting, name);
        String channel = RedisKeys.redissonChannel(name);
        if (publishing.releasesPlain()) {
            send(commands -> commands.publish(channel, RedisKeys.RELEASED));
        }
        if (publishing.releasesSharded()) {
            send(commands -> commands.spublish(channel, RedisKeys.RELEASED));
        }
    }

    /** Says that the hold of this holder was ended by force. */
    void forced(String name, String holderId) {
        tell("f", holderId, name);
    }

    /** Says that a client waits behind this holder. */
    void contended(String name, String holderId) {
        tell("c", holderId, name);
    }

    private void tell(String kind, String holderId, String name) {
        String client = HolderId.client(holderId);
        if (!client.isEmpty()) {
            send(commands -> commands.publish(keys.clientChannels() + client, kind + " " + holderId + " " + name));
        }
    }

    private void send(Function<RedisClusterAsyncCommands<String, String>, CompletionStage<Long>> message) {
        if (refused.get()) {
            return;
        }
        try {
            var unused = message.apply(connections.commands()).whenComplete((heard, error) -> {
                if (error != null && isRefusal(error) && refused.compareAndSet(false, true)) {
                    Log.LOG.log(
                            System.Logger.Level.WARNING,
                            server + " refuses PUBLISH, so waiting clients only poll, and are served late: "
                                    + error.getMessage());
                }
            });
        } catch (RuntimeException e) {
            // The store was closed in the meantime. The waiting clients poll.
            Log.LOG.log(System.Logger.Level.DEBUG, server + ": no hint sent", e);
        }
    }

    /** Returns whether the server refuses for good; not, for example, while a slot moves or the server starts. */
    private boolean isRefusal(Throwable error) {
        return error instanceof RedisCommandExecutionException
                && errors.of(error).outcome() == StoreException.Outcome.FATAL;
    }
}
