package io.holdfast.redis.lua;

import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.RecordStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** The records of work that is done once: each is a text with an expiry, in the slot of its lock. */
record LuaRecords(RedisKeys keys, Scripts scripts) implements RecordStore {

    @Override
    public CompletionStage<Optional<String>> find(String name) {
        return scripts.run(
                LuaScript.FIND_RECORD,
                new String[] {keys.record(name)},
                new String[0],
                reply -> reply.flag() ? Optional.of(reply.text()) : Optional.empty());
    }

    @Override
    public CompletionStage<Boolean> keep(String name, String holderId, String text, Duration keepFor) {
        return scripts.run(
                LuaScript.KEEP_RECORD,
                new String[] {name, keys.record(name)},
                new String[] {holderId, text, Long.toString(keepFor.toMillis())},
                ScriptReply::flag);
    }
}
