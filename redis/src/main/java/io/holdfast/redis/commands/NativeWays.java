package io.holdfast.redis.commands;

import io.holdfast.redis.connect.RedisConnections;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import java.util.concurrent.CompletionStage;

/** Comparisons that the server makes by one command, on the shared connection. */
public final class NativeWays {

    private final RedisConnections connections;

    public NativeWays(RedisConnections connections) {
        this.connections = connections;
    }

    /** {@code DELIFEQ key value}: Valkey 9.0. */
    public ConditionalDelete delifeq() {
        return (key, expected, channel) -> delete(
                NativeCommand.DELIFEQ,
                new CommandArgs<>(StringCodec.UTF8).addKey(key).addValue(expected));
    }

    /** {@code DELEX key IFEQ value}: Redis 8.4. Without the condition it would be a plain DEL. */
    public ConditionalDelete delex() {
        return (key, expected, channel) -> delete(
                NativeCommand.DELEX,
                new CommandArgs<>(StringCodec.UTF8).addKey(key).add("IFEQ").addValue(expected));
    }

    /** {@code SET key value IFEQ expected PX millis}: Valkey 8.1, Redis 8.4. Without PX the key would never expire. */
    ConditionalSet set() {
        return (key, expected, value, millis) -> connections
                .commands()
                .dispatch(
                        NativeCommand.SET,
                        new StatusOutput<>(StringCodec.UTF8),
                        new CommandArgs<>(StringCodec.UTF8)
                                .addKey(key)
                                .addValue(value)
                                .add("IFEQ")
                                .addValue(expected)
                                .add("PX")
                                .add(millis))
                .thenApply("OK"::equals);
    }

    private CompletionStage<ConditionalDelete.Deletion> delete(
            ProtocolKeyword command, CommandArgs<String, String> args) {
        return connections
                .commands()
                .dispatch(command, new IntegerOutput<>(StringCodec.UTF8), args)
                .thenApply(
                        deleted -> new ConditionalDelete.Deletion(deleted == 1, ConditionalDelete.Deletion.NOT_TOLD));
    }
}
