package io.holdfast.redis;

import io.holdfast.redis.commands.CommandsLockStore;
import io.holdfast.redis.commands.CompareProbe;
import io.holdfast.redis.connect.DedicatedConnections;
import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.messages.RedisMessages;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.spi.StoreContext;
import java.util.function.LongUnaryOperator;

/** Opens {@link CommandsOpening} to the simulation; decides nothing. */
public final class VerifyRedis {

    private final CommandsOpening opening;

    public VerifyRedis(
            RedisSettings settings,
            StoreContext context,
            RedisConnections connections,
            RedisErrors errors,
            DedicatedConnections dedicated,
            CompareProbe probe,
            CompareProbe.Finding first) {
        opening = new CommandsOpening(settings, context, connections, errors, dedicated, probe, first);
    }

    public void reconnected() {
        opening.reconnected();
    }

    public void beat() {
        opening.beat();
    }

    public CommandsLockStore store(RedisKeys keys, RedisMessages messages, LongUnaryOperator random, Runnable closing) {
        return opening.store(keys, messages, random, closing);
    }
}
