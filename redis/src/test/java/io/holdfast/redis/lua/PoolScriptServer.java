package io.holdfast.redis.lua;

import io.holdfast.redis.messages.Publishing;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.RespClient;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Runs the scripts of pools on a real server, with a clock, listeners and messages that the test controls. A few lines
 * before each script put a table of their own in the place of {@code redis}: they answer TIME, PTTL and PUBSUB, keep
 * what is published in a list, and turn each expiry into one of a far future. The server keeps that expiry, so whatever
 * removes it shows. After the script they read all that is stored.
 */
final class PoolScriptServer implements AutoCloseable {

    /** What a pool has at the server. */
    record Stored(
            Map<String, String> holds,
            Map<String, Long> ends,
            List<String> queue,
            long holdsExpireIn,
            long queueExpiresIn,
            long endsExpireIn) {}

    record Outcome(List<?> reply, List<String> messages, List<Stored> pools) {}

    static final RedisKeys KEYS = RedisKeys.ofServer("holdfast");
    static final List<String> POOLS = List.of("a", "b");

    private static final ScriptHead HEAD = new ScriptHead(Publishing.PLAIN, "holdfast:c:", false);

    /** A millisecond of the test is a second of the server: the time that a script takes does not count. */
    private static final String BEFORE = """
            local ARGS, server, STORED = ARGV, redis, %s
            local ARGV, clock_ = {}, tonumber(ARGS[1])
            for i = 2, #ARGS do ARGV[i - 1] = ARGS[i] end
            local redis = {}
            local function exact(number) return string.format('%%.0f', number) end
            local function remaining(key)
              local left = server.call('PTTL', key)
              if left < 0 then return nil, left end
              local time = server.call('TIME')
              return math.floor((left + time[1] * 1000 + time[2] / 1000) / 1000 + 0.5) - clock_
            end
            local function run(how, command, ...)
              local args = {...}
              if command == 'TIME' then
                return {exact(math.floor(clock_ / 1000)), exact(clock_ %% 1000 * 1000)}
              elseif command == 'PTTL' then
                local left, none = remaining(args[1])
                return left or none
              elseif command == 'PEXPIREAT' and args[3] then
                return how(command, args[1], exact(args[2] * 1000), args[3])
              elseif command == 'PEXPIREAT' then
                return how(command, args[1], exact(args[2] * 1000))
              elseif command == 'PEXPIRE' then
                return how('PEXPIREAT', args[1], exact((clock_ + args[2]) * 1000))
              elseif command == 'SET' and args[3] == 'PX' then
                how('SET', args[1], args[2])
                return how('PEXPIREAT', args[1], exact((clock_ + args[4]) * 1000))
              elseif command == 'PUBSUB' then
                return {args[2], 1 - server.call('SISMEMBER', 'test:deaf', args[2])}
              elseif command == 'PUBLISH' then
                server.call('RPUSH', 'test:messages', args[2])
                return 1
              end
              return how(command, ...)
            end
            redis.call = function(...) return run(server.call, ...) end
            redis.pcall = function(...) return run(server.pcall, ...) end
            for _, key in ipairs(STORED) do
              local left = remaining(key)
              if left and left <= 0 then server.call('DEL', key) end
            end
            local function script()
            """;

    private static final String AFTER = """
            end
            local reply, stored = script(), {}
            for i = 1, #STORED, 3 do
              stored[#stored + 1] = {
                server.call('HGETALL', STORED[i]), server.call('ZRANGE', STORED[i + 2], 0, -1, 'WITHSCORES'),
                server.call('ZRANGE', STORED[i + 1], 0, -1), redis.call('PTTL', STORED[i]),
                redis.call('PTTL', STORED[i + 1]), redis.call('PTTL', STORED[i + 2])}
            end
            local messages = server.call('LRANGE', 'test:messages', 0, -1)
            server.call('DEL', 'test:messages')
            return {reply, messages, stored}
            """;

    private final RespClient connection;
    private final Map<LuaScript, String> digests = new EnumMap<>(LuaScript.class);

    PoolScriptServer(RedisServer server, PoolScriptBug bug, boolean pushes) throws IOException {
        connection = RespClient.connect(server.host(), server.port(), Duration.ofSeconds(60));
        String stored = String.join(
                ", ",
                POOLS.stream()
                        .flatMap(pool -> stored(pool).stream())
                        .map(key -> "'" + key + "'")
                        .toList());
        String before = BEFORE.formatted("{" + stored + "}");
        boolean applied = bug == PoolScriptBug.NONE;
        for (LuaScript script : LuaScript.OF_POOLS) {
            String text = script.text(HEAD, pushes);
            String buggy = bug.in(text);
            applied |= !buggy.equals(text);
            digests.put(script, (String) connection.call("SCRIPT", "LOAD", before + buggy + AFTER));
        }
        if (!applied) {
            throw new IllegalStateException(bug + " is in no script");
        }
    }

    private static List<String> stored(String pool) {
        String[] keys = KEYS.ofPool(pool);
        return List.of(keys[0], keys[1], keys[3]);
    }

    void flush() throws IOException {
        connection.call("FLUSHALL");
    }

    void setDeaf(String client, boolean deaf) throws IOException {
        connection.call(deaf ? "SADD" : "SREM", "test:deaf", "holdfast:c:" + client);
    }

    void delete(String key) throws IOException {
        connection.call("DEL", key);
    }

    Outcome run(LuaScript script, long now, String[] keys, String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of("EVALSHA", digests.get(script), "" + keys.length));
        command.addAll(Arrays.asList(keys));
        command.add(Long.toString(now));
        command.addAll(Arrays.asList(args));
        List<?> all = (List<?>) connection.call(command.toArray(String[]::new));
        List<String> messages =
                ((List<?>) all.get(1)).stream().map(String.class::cast).toList();
        List<Stored> pools = ((List<?>) all.get(2))
                .stream().map(each -> stored((List<?>) each)).toList();
        return new Outcome((List<?>) all.get(0), messages, pools);
    }

    private static Stored stored(List<?> raw) {
        Map<String, String> holds = new LinkedHashMap<>();
        List<?> fields = (List<?>) raw.get(0);
        for (int i = 0; i < fields.size(); i += 2) {
            holds.put((String) fields.get(i), (String) fields.get(i + 1));
        }
        Map<String, Long> ends = new LinkedHashMap<>();
        List<?> scores = (List<?>) raw.get(1);
        for (int i = 0; i < scores.size(); i += 2) {
            ends.put((String) scores.get(i), Long.valueOf((String) scores.get(i + 1)));
        }
        List<String> queue =
                ((List<?>) raw.get(2)).stream().map(String.class::cast).toList();
        return new Stored(holds, ends, queue, (Long) raw.get(3), (Long) raw.get(4), (Long) raw.get(5));
    }

    /** Returns the keys that the server has, without the test's. */
    Set<String> keys() throws IOException {
        Set<String> keys = new TreeSet<>();
        ((List<?>) connection.call("KEYS", "holdfast:*")).forEach(key -> keys.add((String) key));
        return keys;
    }

    @Override
    public void close() throws IOException {
        connection.close();
    }
}
