package io.holdfast.redis.commands;

import io.holdfast.redis.commands.ConditionalDelete.Deletion;
import io.holdfast.redis.connect.RedisConnections;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionStage;

/** The comparisons by one command each, on the shared connection. */
public final class NativeWays {

    /** Commands that the driver does not know. */
    @SuppressWarnings("deprecation") // ProtocolKeyword.name(), which every enum has
    private enum NewCommand implements ProtocolKeyword {
        DELIFEQ,
        DELEX;

        @Override
        public byte[] getBytes() {
            return name().getBytes(StandardCharsets.US_ASCII);
        }
    }

    private final RedisConnections connections;

    public NativeWays(RedisConnections connections) {
        this.connections = connections;
    }

    /** {@code DELIFEQ key value}. */
    public ConditionalDelete delifeq() {
        return (key, expected) -> delete(NewCommand.DELIFEQ, args(key).addValue(expected));
    }

    /** {@code DELEX key IFEQ value}. Without the condition it would be a DEL. */
    public ConditionalDelete delex() {
        return (key, expected) -> delete(NewCommand.DELEX, args(key).add("IFEQ").addValue(expected));
    }

    /** {@code SET key value IFEQ expected PX millis}. Without PX the key would never expire. */
    ConditionalSet set() {
        return (key, expected, value, millis) -> connections
                .commands()
                .dispatch(
                        CommandType.SET,
                        new StatusOutput<>(StringCodec.UTF8),
                        args(key)
                                .addValue(value)
                                .add("IFEQ")
                                .addValue(expected)
                                .add("PX")
                                .add(millis))
                .thenApply("OK"::equals);
    }

    private static CommandArgs<String, String> args(String key) {
        return new CommandArgs<>(StringCodec.UTF8).addKey(key);
    }

    private CompletionStage<Deletion> delete(ProtocolKeyword command, CommandArgs<String, String> args) {
        return connections
                .commands()
                .dispatch(command, new IntegerOutput<>(StringCodec.UTF8), args)
                .thenApply(deleted -> new Deletion(deleted == 1, Deletion.NOT_TOLD));
    }
}
