package io.holdfast.redis.lua;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.messages.RedisMessages;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisSettings;

/** What the classes of one store share. */
record LuaParts(
        NameKind kind,
        RedisSettings settings,
        RedisKeys allKeys,
        Scripts scripts,
        RedisErrors errors,
        RedisConnections connections,
        RedisMessages messages) {

    /** Returns the parts of the view of pools. */
    LuaParts ofPools() {
        return new LuaParts(NameKind.POOLS, settings, allKeys, scripts.ofPools(), errors, connections, messages);
    }

    boolean areOfPools() {
        return kind == NameKind.POOLS;
    }

    /** Returns the {@code KEYS} of all scripts but the renewals. */
    String[] keys(String name) {
        return kind.keys(allKeys, name);
    }

    /** Returns whether scripts notify other clients; otherwise their callers send hints. */
    boolean pushes() {
        return scripts.allowed().pushes();
    }

    /** Returns the server time after which no caller waits for the answer, so the server refuses the command. */
    String notAfter(String name) {
        return Long.toString(connections.clock(name).notAfterMillis(settings.timeout()));
    }

    /** Reads the server's time from a reply. */
    void observe(String name, ScriptReply reply) {
        connections.clock(name).observe(reply.number());
    }
}
