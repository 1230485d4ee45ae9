package io.holdfast.redis.lua;

import io.holdfast.redis.server.Log;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * Sends other clients the messages that scripts may not send. They say that a lock is free or a pool has room, that a
 * client waits, and that a hold was ended by force. A hint is sent after the script, and no answer is waited for. A
 * lost hint costs its receiver the time until its next poll.
 */
public final class Hints {

    private final LuaParts parts;
    private final String server;
    private final AtomicBoolean refused = new AtomicBoolean();

    Hints(LuaParts parts) {
        this.parts = parts;
        this.server = parts.settings().describe();
    }

    /**
     * Says that the name was left free. Redisson's clients, which wait for locks alone, receive it in each way in which
     * a script would send it.
     */
    void released(String name, String firstWaiting) {
        tell("r", firstWaiting, name);
        if (parts.areOfPools()) {
            return;
        }
        String channel = RedisKeys.redissonChannel(name);
        if (parts.scripts().publishing().releasesPlain()) {
            send(commands -> commands.publish(channel, RedisKeys.RELEASED));
        }
        if (parts.scripts().publishing().releasesSharded()) {
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

    private void tell(String what, String holderId, String name) {
        String client = HolderId.client(holderId);
        if (!client.isEmpty()) {
            String key = parts.keys(name)[0];
            send(commands ->
                    commands.publish(parts.allKeys().clientChannels() + client, what + " " + holderId + " " + key));
        }
    }

    private void send(Function<RedisClusterAsyncCommands<String, String>, CompletionStage<Long>> message) {
        if (refused.get()) {
            return;
        }
        try {
            var unused = message.apply(parts.connections().commands()).whenComplete((heard, error) -> {
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
                && parts.errors().of(error).outcome() == StoreException.Outcome.FATAL;
    }
}
