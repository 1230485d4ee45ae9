package io.holdfast.redis;

import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Renews holds, as many by one command as one script may touch together: in a cluster those of one slot.
 *
 * <p>Thread-safe; keeps no state.
 */
final class Renewals {

    /** More in one command would keep the server's other clients waiting noticeably. */
    private static final int RENEWALS_PER_COMMAND = 128;

    private final RedisKeys keys;
    private final Scripts scripts;
    private final RedisErrors errors;
    private final RedisConnections connections;
    private final RedissonReleases redisson;

    Renewals(
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

    /** One stage for each request, in their order. None depends on another but those of one command. */
    List<CompletionStage<RenewReply>> renew(List<RenewRequest> requests) {
        int most = scripts.allowed().batches() ? RENEWALS_PER_COMMAND : 1;
        Map<Group, List<Integer>> groups = new LinkedHashMap<>();
        for (int i = 0; i < requests.size(); i++) {
            RenewRequest request = requests.get(i);
            groups.computeIfAbsent(
                            new Group(connections.group(request.name()), request.counted()), group -> new ArrayList<>())
                    .add(i);
        }
        List<CompletionStage<RenewReply>> stages = new ArrayList<>(Collections.nCopies(requests.size(), null));
        for (List<Integer> group : groups.values()) {
            for (int from = 0; from < group.size(); from += most) {
                send(requests, group.subList(from, Math.min(from + most, group.size())), stages);
            }
        }
        return stages;
    }

    /** Renews some of the requests by one command. */
    private void send(List<RenewRequest> all, List<Integer> indexes, List<CompletionStage<RenewReply>> stages) {
        List<RenewRequest> requests = indexes.stream().map(all::get).toList();
        boolean counted = requests.get(0).counted();
        CompletionStage<List<Object>> command = renewal(requests, counted);
        for (int i = 0; i < requests.size(); i++) {
            RenewRequest request = requests.get(i);
            int index = i;
            CompletableFuture<RenewReply> stage = new CompletableFuture<>();
            stages.set(indexes.get(i), stage);
            command.whenComplete((reply, error) -> {
                if (error == null) {
                    stage.complete(renewed(request, reply, index, counted));
                } else if (RedisErrors.keysAreApart(error)) {
                    // A slot can take long to move, and all that while its locks would not be renewed.
                    renewAlone(request, stage);
                } else {
                    stage.completeExceptionally(errors.of(error));
                }
            });
        }
    }

    /** With the lock key only, which is at one node at any time. It does not tell how many wait. */
    private void renewAlone(RenewRequest request, CompletableFuture<RenewReply> outcome) {
        renewal(List.of(request), false).whenComplete((reply, error) -> {
            if (error == null) {
                outcome.complete(renewed(request, reply, 0, false));
            } else {
                outcome.completeExceptionally(errors.of(error));
            }
        });
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
