package io.holdfast.redis.lua;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.messages.RedissonReleases;
import io.holdfast.redis.server.RedisErrors;
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
 * Renews holds in batches of as many as one script may touch; in a cluster, those of one slot.
 *
 * <p>Thread-safe; keeps no state.
 */
public final class BatchRenewals {

    /** More holds in one command would delay the server's other clients noticeably. */
    private static final int RENEWALS_PER_COMMAND = 128;

    /** The answer of most renewals, which do not count the waiting clients. */
    private static final RenewReply RENEWED = new RenewReply.Renewed(0);

    private final LuaParts parts;
    private final NameKind kind;
    private final Scripts scripts;
    private final RedisErrors errors;
    private final RedisConnections connections;
    private final RedissonReleases redisson;

    BatchRenewals(LuaParts parts) {
        this.parts = parts;
        this.kind = parts.kind();
        this.scripts = parts.scripts();
        this.errors = parts.errors();
        this.connections = parts.connections();
        this.redisson = parts.messages().redisson();
    }

    /** What the requests of one command have in common. */
    private record Group(int keys, boolean counted, long leaseMillis, long sequence, boolean exact) {

        boolean takes(int otherKeys, RenewRequest request) {
            return keys == otherKeys
                    && counted == request.counted()
                    && leaseMillis == request.leaseMillis()
                    && sequence == request.sequence()
                    && exact == request.exact();
        }
    }

    /** The requests of one command and, in the same order, their places in the caller's list. */
    private static final class Chunk {

        final Group group;
        final List<RenewRequest> requests = new ArrayList<>();

        /** In a cluster most chunks are of one request. */
        int[] indexes = new int[1];

        Chunk(Group group) {
            this.group = group;
        }

        void add(int index, RenewRequest request) {
            if (requests.size() == indexes.length) {
                indexes = Arrays.copyOf(indexes, 2 * indexes.length);
            }
            indexes[requests.size()] = index;
            requests.add(request);
        }

        /** Returns a chunk of one of the requests. */
        Chunk alone(int place, boolean counted) {
            Chunk alone = new Chunk(new Group(group.keys, counted, group.leaseMillis, group.sequence, group.exact));
            alone.add(indexes[place], requests.get(place));
            return alone;
        }
    }

    /** Answers each request. An answer depends only on requests of the same command. */
    void renew(List<RenewRequest> requests, RenewAnswers answers) {
        int most = scripts.allowed().batches() ? RENEWALS_PER_COMMAND : 1;
        Map<Group, Chunk> open = new LinkedHashMap<>();
        Chunk chunk = null;
        for (int i = 0; i < requests.size(); i++) {
            RenewRequest request = requests.get(i);
            int slot = connections.group(request.name());
            if (chunk == null || !chunk.group.takes(slot, request)) {
                Group group =
                        new Group(slot, request.counted(), request.leaseMillis(), request.sequence(), request.exact());
                chunk = open.computeIfAbsent(group, Chunk::new);
            }
            chunk.add(i, request);
            if (chunk.requests.size() == most) {
                open.remove(chunk.group);
                send(chunk, answers);
                chunk = null;
            }
        }
        open.values().forEach(rest -> send(rest, answers));
    }

    private void send(Chunk chunk, RenewAnswers answers) {
        renewal(chunk).whenComplete((replies, error) -> {
            StoreException failed = error == null ? null : errors.of(error);
            // A slot can take long to move. Its locks are renewed even then, by commands without the queue's key. A
            // hold
            // of a pool has two keys, so its renewal was repeated until both had moved, or for as long as allowed.
            boolean apart = failed != null && kind == NameKind.LOCKS && RedisErrors.keysAreApart(error);
            // A batch may be refused for good because this user has lost the right to one of its keys.
            boolean refused =
                    failed != null && chunk.requests.size() > 1 && failed.outcome() == StoreException.Outcome.FATAL;
            for (int i = 0; i < chunk.requests.size(); i++) {
                if (apart || refused) {
                    renewAlone(chunk.alone(i, chunk.group.counted && !apart), answers);
                } else {
                    answers.answered(chunk.indexes[i], failed == null ? replies[i] : null, failed);
                }
            }
        });
    }

    /**
     * Renews one hold. A chunk that does not count the waiting clients has only the lock's key, which is at one node at
     * any time.
     */
    private void renewAlone(Chunk chunk, RenewAnswers answers) {
        renewal(chunk)
                .whenComplete((replies, error) -> answers.answered(
                        chunk.indexes[0], error == null ? replies[0] : null, error == null ? null : errors.of(error)));
    }

    private CompletionStage<RenewReply[]> renewal(Chunk chunk) {
        List<RenewRequest> requests = chunk.requests;
        LuaScript script = requests.size() == 1 ? kind.renewOne : kind.renew;
        NameKind.Renewal renewal = kind.renewal(parts.allKeys(), requests, chunk.group.counted);
        return scripts.run(script, renewal.keys, renewalArgs(chunk, renewal.rows), reply -> {
            connections.clock(requests.get(0).name()).observe(reply.number());
            for (RenewRequest request : requests) {
                redisson.unwatch(request.name(), request.holderId());
            }
            return replies(requests.size(), reply);
        });
    }

    /** Reads the answers. The reply names only the holds that were not renewed. */
    private static RenewReply[] replies(int count, ScriptReply reply) {
        RenewReply[] replies = new RenewReply[count];
        long[] others = reply.numbers();
        if (reply.hasNext()) {
            long[] waiting = reply.numbers();
            for (int i = 0; i < count; i++) {
                replies[i] = new RenewReply.Renewed((int) waiting[i]);
            }
        } else {
            Arrays.fill(replies, RENEWED);
        }
        for (int i = 0; i < others.length; i += 2) {
            replies[(int) others[i] - 1] = others[i + 1] == 0 ? new RenewReply.Gone() : new RenewReply.Superseded();
        }
        return replies;
    }

    private static String[] renewalArgs(Chunk chunk, String[] rows) {
        String[] args = new String[3 + rows.length + chunk.requests.size()];
        args[0] = Long.toString(chunk.group.leaseMillis);
        args[1] = Long.toString(chunk.group.sequence);
        args[2] = chunk.group.exact ? "1" : "0";
        System.arraycopy(rows, 0, args, 3, rows.length);
        int first = 3 + rows.length;
        for (int i = 0; i < chunk.requests.size(); i++) {
            args[first + i] = chunk.requests.get(i).holderId();
        }
        return args;
    }
}
