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
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * Renews holds, as many by one command as one script may touch together: in a cluster those of one slot.
 *
 * <p>Thread-safe; keeps no state.
 */
public final class BatchRenewals {

    /** More in one command would keep the server's other clients waiting noticeably. */
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

    /** Those that may go in one command. */
    private record Group(int keys, boolean counted) {}

    /** Of one group, what goes in the next command: requests and their places in the caller's list. */
    private static final class Chunk {

        final Group group;
        final List<RenewRequest> requests = new ArrayList<>();

        /** Of the requests, in the same order. In a cluster most chunks are of one request. */
        int[] indexes = new int[1];

        Chunk(Group group) {
            this.group = group;
        }

        boolean takes(int keys, boolean counted) {
            return group.keys == keys && group.counted == counted;
        }

        void add(int index, RenewRequest request) {
            if (requests.size() == indexes.length) {
                indexes = Arrays.copyOf(indexes, 2 * indexes.length);
            }
            indexes[requests.size()] = index;
            requests.add(request);
        }
    }

    /** One answer for each request. None depends on another but those of one command. */
    void renew(List<RenewRequest> requests, RenewAnswers answers) {
        int most = scripts.allowed().batches() ? RENEWALS_PER_COMMAND : 1;
        Map<Group, Chunk> open = new LinkedHashMap<>();
        Chunk chunk = null;
        for (int i = 0; i < requests.size(); i++) {
            RenewRequest request = requests.get(i);
            int keys = connections.group(request.name());
            if (chunk == null || !chunk.takes(keys, request.counted())) {
                chunk = open.computeIfAbsent(new Group(keys, request.counted()), Chunk::new);
            }
            chunk.add(i, request);
            if (chunk.requests.size() == most) {
                open.remove(chunk.group);
                send(chunk, answers);
                chunk = null;
            }
        }
        for (Chunk rest : open.values()) {
            send(rest, answers);
        }
    }

    /** Renews those of a chunk by one command. */
    private void send(Chunk chunk, RenewAnswers answers) {
        List<RenewRequest> requests = chunk.requests;
        boolean counted = chunk.group.counted;
        renewal(requests, counted).whenComplete((reply, error) -> {
            StoreException failed = error == null ? null : errors.of(error);
            // A slot can take long to move, and all that while its locks would not be renewed.
            boolean apart = failed != null && RedisErrors.keysAreApart(error);
            // What is refused for good may be refused because of one of them, to whose key this user has lost the
            // right.
            boolean refused = failed != null && requests.size() > 1 && failed.outcome() == StoreException.Outcome.FATAL;
            for (int i = 0; i < requests.size(); i++) {
                if (apart || refused) {
                    renewAlone(requests.get(i), counted && !apart, chunk.indexes[i], answers);
                } else if (failed != null) {
                    answers.answered(chunk.indexes[i], null, failed);
                } else {
                    answer(requests.get(i), reply, i, counted, chunk.indexes[i], answers);
                }
            }
        });
    }

    /** @param counted else with the lock key only, which is at one node at any time, and does not tell how many wait */
    private void renewAlone(RenewRequest request, boolean counted, int index, RenewAnswers answers) {
        renewal(List.of(request), counted).whenComplete((reply, error) -> {
            if (error == null) {
                answer(request, reply, 0, counted, index, answers);
            } else {
                answers.answered(index, null, errors.of(error));
            }
        });
    }

    private void answer(
            RenewRequest request, List<Object> reply, int at, boolean counted, int index, RenewAnswers answers) {
        RenewReply renewed;
        try {
            renewed = renewed(request, reply, at, counted);
        } catch (RuntimeException e) {
            // Not a reply of this script.
            answers.answered(index, null, errors.of(e));
            return;
        }
        answers.answered(index, renewed, null);
    }

    private CompletionStage<List<Object>> renewal(List<RenewRequest> requests, boolean counted) {
        LuaScript script = requests.size() == 1 ? LuaScript.RENEW_ONE : LuaScript.RENEW;
        return scripts.run(script, renewalKeys(requests, counted), renewalArgs(requests), (reply, outcome) -> {
            connections.clock(requests.get(0).name()).observe((Long) reply.get(0));
            outcome.complete(reply);
        });
    }

    private String[] renewalKeys(List<RenewRequest> requests, boolean counted) {
        String[] names = new String[counted ? 2 * requests.size() : requests.size()];
        int at = 0;
        for (RenewRequest request : requests) {
            names[at++] = request.name();
            if (counted) {
                names[at++] = keys.queue(request.name());
            }
        }
        return names;
    }

    private static String[] renewalArgs(List<RenewRequest> requests) {
        String[] args = new String[2 * requests.size()];
        RenewRequest before = null;
        int at = 0;
        for (RenewRequest request : requests) {
            args[at++] = request.holderId();
            args[at++] = before != null && isSetAlike(request, before)
                    ? ""
                    : request.leaseMillis() + ":" + request.sequence() + (request.exact() ? ":1" : ":0");
            before = request;
        }
        return args;
    }

    private static boolean isSetAlike(RenewRequest one, RenewRequest other) {
        return one.leaseMillis() == other.leaseMillis()
                && one.sequence() == other.sequence()
                && one.exact() == other.exact();
    }

    private RenewReply renewed(RenewRequest request, List<Object> reply, int index, boolean counted) {
        redisson.unwatch(request.name(), request.holderId());
        int at = 1 + (counted ? 3 : 2) * index;
        return switch (integer(reply, at)) {
            case 0 -> new RenewReply.Gone();
            case 1 -> new RenewReply.Renewed((Long) reply.get(at + 1), counted ? integer(reply, at + 2) : 0);
            default -> new RenewReply.Superseded();
        };
    }

    private static int integer(List<Object> reply, int index) {
        return ((Long) reply.get(index)).intValue();
    }
}
