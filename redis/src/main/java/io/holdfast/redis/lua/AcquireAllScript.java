package io.holdfast.redis.lua;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.ServerClock;
import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Takes several locks by one script, all or none: any locks on one server, the locks of one slot in a cluster. The
 * script computes its keys, so it is not used where a service refuses that.
 */
public final class AcquireAllScript {

    /** More locks in one command would delay the server's other clients noticeably. */
    private static final int LOCKS_MAX = 100;

    private final RedisKeys keys;
    private final Scripts scripts;
    private final RedisErrors errors;
    private final RedisConnections connections;
    private final RedissonSeen redissonSeen;

    AcquireAllScript(
            RedisKeys keys,
            Scripts scripts,
            RedisErrors errors,
            RedisConnections connections,
            RedissonSeen redissonSeen) {
        this.keys = keys;
        this.scripts = scripts;
        this.errors = errors;
        this.connections = connections;
        this.redissonSeen = redissonSeen;
    }

    /** Returns whether one script may take the locks of these names. */
    boolean takes(List<String> names) {
        int group = connections.group(names.get(0));
        return scripts.allowed().batches()
                && names.size() <= LOCKS_MAX
                && names.stream().allMatch(name -> connections.group(name) == group);
    }

    /** Takes the locks. The server's clock must be known. */
    CompletionStage<AcquireAllReply> acquire(List<AcquireRequest> requests) {
        CompletableFuture<AcquireAllReply> outcome = new CompletableFuture<>();
        acquire(requests, outcome, true);
        return outcome;
    }

    private void acquire(List<AcquireRequest> requests, CompletableFuture<AcquireAllReply> outcome, boolean again) {
        ServerClock clock = connections.clock(requests.get(0).name());
        List<String> locks = new ArrayList<>();
        List<String> args = new ArrayList<>();
        args.add(Long.toString(requests.get(0).leaseMillis()));
        args.add(Long.toString(clock.notAfterMillis(errors.timeout())));
        args.add(redissonSeen.isRecent() ? "1" : "0");
        for (AcquireRequest request : requests) {
            locks.add(request.name());
            locks.add(keys.queue(request.name()));
            args.add(request.holderId());
        }
        locks.add(2, keys.counter(requests.get(0).name()));
        Scripts.Decoder<AcquireAllReply> decoder = (reply, unused) -> {
            int code = reply.integer();
            clock.observe(reply.number());
            if (again && AcquireRefusals.isLate(code)) {
                acquire(requests, outcome, false);
                return;
            }
            AcquireRefusals.check(code, reply, errors, locks.get(2));
            outcome.complete(acquired(requests, code == 1, reply));
        };
        scripts.run(LuaScript.ACQUIRE_ALL, locks.toArray(new String[0]), args.toArray(new String[0]), decoder, outcome);
    }

    private static AcquireAllReply acquired(List<AcquireRequest> requests, boolean taken, ScriptReply reply) {
        if (!taken) {
            return AcquireAllReply.busy(requests.get(reply.integer() - 1).name(), reply.number());
        }
        List<Granted> granted = new ArrayList<>();
        requests.forEach(request -> granted.add(new Granted(reply.number(), reply.integer())));
        return AcquireAllReply.taken(granted);
    }
}
