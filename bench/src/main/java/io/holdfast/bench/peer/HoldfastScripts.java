package io.holdfast.bench.peer;

import io.holdfast.redis.lua.LuaScript;
import io.holdfast.redis.lua.ScriptHead;
import io.holdfast.redis.messages.Publishing;
import io.holdfast.redis.server.RedisKeys;

/** Holdfast's own scripts and what they are called with, for peers that run them with nothing around. */
final class HoldfastScripts {

    private static final RedisKeys KEYS = RedisKeys.ofServer("holdfast");

    /** What the channels of clients begin with. */
    static final String CHANNELS = KEYS.clientChannels();

    private static final ScriptHead HEAD = new ScriptHead(Publishing.PLAIN, CHANNELS, false);

    private HoldfastScripts() {}

    static String text(LuaScript script) {
        return script.text(HEAD, true);
    }

    static String[] keys(String name) {
        return KEYS.of(lock(name));
    }

    /** The key of a lock, with the prefix that Holdfast gives it. */
    static String lock(String name) {
        return "lock:" + name;
    }

    /** With arguments of the same lengths as Holdfast's. */
    static String[] acquireArgs(String holder, String leaseMillis, boolean queue) {
        String notAfter = Long.toString(System.currentTimeMillis() + 3_000);
        return new String[] {holder, leaseMillis, notAfter, queue ? "1000:0" : ""};
    }
}
