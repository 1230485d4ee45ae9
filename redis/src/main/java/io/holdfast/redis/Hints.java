package io.holdfast.redis;

import io.lettuce.core.RedisCommandExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Tells other clients what scripts may not tell them: that a lock is free, and that somebody waits. Sent after the fact
 * and without waiting for an answer; one that is lost costs its receiver the time until its next poll.
 */
final class Hints {

    private static final System.Logger LOG = System.getLogger(RedisLockStoreProvider.class.getName());

    private final RedisConnections connections;
    private final RedisKeys keys;
    private final String server;
    private final AtomicBoolean refused = new AtomicBoolean();

    Hints(RedisConnections connections, RedisKeys keys, String server) {
        this.connections = connections;
        this.keys = keys;
        this.server = server;
    }

    /** The lock was left free. */
    void released(String name, String firstWaiting) {
        tell("r", firstWaiting, name);
        publish(RedisKeys.redissonChannel(name), "0");
    }

    /** Somebody waits behind this holder. */
    void contended(String name, String holderId) {
        tell("c", holderId, name);
    }

    private void tell(String kind, String holderId, String name) {
        int client = holderId.lastIndexOf(':');
        if (client > 0) {
            publish(keys.clientChannels() + holderId.substring(0, client), kind + " " + holderId + " " + name);
        }
    }

    private void publish(String channel, String message) {
        if (refused.get()) {
            return;
        }
        try {
            var unused = connections.commands().publish(channel, message).whenComplete((heard, error) -> {
                if (error instanceof RedisCommandExecutionException && refused.compareAndSet(false, true)) {
                    LOG.log(
                            System.Logger.Level.WARNING,
                            server + " refuses PUBLISH, so waiting clients only poll, and are served late: "
                                    + error.getMessage());
                }
            });
        } catch (RuntimeException e) {
            // Closed meanwhile: whoever waits polls.
            LOG.log(System.Logger.Level.DEBUG, server + ": no hint sent", e);
        }
    }
}
