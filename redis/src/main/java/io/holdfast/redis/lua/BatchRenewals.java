package io.holdfast.redis.lua;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.connect.RedissonReleases;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * Renews holds, each command as many as one script may touch together: in a cluster those of one slot.
 *
 * <p>Thread-safe; keeps no state.
 */
public final class BatchRenewals {

    /** More holds in one command would delay the server's other clients noticeably. */
    private static final int RENEWALS_PER_COMMAND = 128;

    private final RedisKeys keys;
    private final Scripts scripts;
    private final RedisErrors errors;
    private final RedisConnections connections;
    private final RedissonReleases redisson;

    BatchRenewals(
            RedisKeys keys,
            Scripts scripts,
            RedisErrors errors,
            RedisConnections connections,
            RedissonReleases redisson) {
        this.keys = keys;
        this.scripts = scripts;
        this.errors = errors;
        this.connections = connections;
        this.redisson = redisson;
    }

    /** What the requests of one command have in common. */
    private record Group(int keys, boolean counted) {}

    /** A request and its place in the caller's list. */
    private record Entry(int index, RenewRequest request) {}

    /** Answers each request. An answer depends only on requests of the same command. */
    void renew(List<RenewRequest> requests, RenewAnswers answers) {
        int most = scripts.allowed().batches() ? RENEWALS_PER_COMMAND : 1;
        Map<Group, List<Entry>> open = new LinkedHashMap<>();
        for (int i = 0; i < requests.size(); i++) {
            RenewRequest request = requests.get(i);
            Group group = new Group(connections.group(request.name()), request.counted());
            List<Entry> chunk = open.computeIfAbsent(group, first -> new ArrayList<>());
            chunk.add(new Entry(i, request));
            if (chunk.size() == most) {
                open.remove(group);
                send(chunk, group.counted(), answers);
            }
        }
        open.forEach((group, chunk) -> send(chunk, group.counted(), answers));
    }

    private void send(List<Entry> chunk, boolean counted, RenewAnswers answers) {
        renewal(chunk, counted).whenComplete((replies, error) -> {
            StoreException failed = error == null ? null : errors.of(error);
            // A slot can take long to move. Without the queue's key, its locks are renewed all the while.
            boolean apart = failed != null && RedisErrors.keysAreApart(error);
            // A batch may be refused for good because this user has lost the right to one of its keys.
            boolean refused = failed != null && chunk.size() > 1 && failed.outcome() == StoreException.Outcome.FATAL;
            for (int i = 0; i < chunk.size(); i++) {
                if (apart || refused) {
                    renewAlone(chunk.get(i), counted && !apart, answers);
                } else {
                    answers.answered(chunk.get(i).index(), failed == null ? replies.get(i) : null, failed);
                }
            }
        });
    }

    /**
     * Renews one hold.
     *
     * @param counted whether to count the waiting clients. If not, the command has only the lock's key, which is at one
     *     node at any time
     */
    private void renewAlone(Entry entry, boolean counted, RenewAnswers answers) {
        renewal(List.of(entry), counted)
                .whenComplete((replies, error) -> answers.answered(
                        entry.index(), error == null ? replies.get(0) : null, error == null ? null : errors.of(error)));
    }

    private CompletionStage<List<RenewReply>> renewal(List<Entry> chunk, boolean counted) {
        LuaScript script = chunk.size() == 1 ? LuaScript.RENEW_ONE : LuaScript.RENEW;
        return scripts.run(script, renewalKeys(chunk, counted), renewalArgs(chunk), reply -> {
            connections.clock(chunk.get(0).request().name()).observe(reply.number());
            List<RenewReply> replies = new ArrayList<>(chunk.size());
            for (Entry entry : chunk) {
                redisson.unwatch(entry.request().name(), entry.request().holderId());
                int code = reply.integer();
                long base = reply.number();
                int waiting = counted ? reply.integer() : 0;
                replies.add(
                        switch (code) {
                            case 0 -> new RenewReply.Gone();
                            case 1 -> new RenewReply.Renewed(base, waiting);
                            default -> new RenewReply.Superseded();
                        });
            }
            return replies;
        });
    }

    private String[] renewalKeys(List<Entry> chunk, boolean counted) {
        List<String> names = new ArrayList<>(2 * chunk.size());
        for (Entry entry : chunk) {
            names.add(entry.request().name());
            if (counted) {
                names.add(keys.queue(entry.request().name()));
            }
        }
        return names.toArray(new String[0]);
    }

    private static String[] renewalArgs(List<Entry> chunk) {
        String[] args = new String[2 * chunk.size()];
        String before = "";
        int at = 0;
        for (Entry entry : chunk) {
            RenewRequest request = entry.request();
            String setting = request.leaseMillis() + ":" + request.sequence() + (request.exact() ? ":1" : ":0");
            args[at++] = request.holderId();
            args[at++] = setting.equals(before) ? "" : setting;
            before = setting;
        }
        return args;
    }
}
