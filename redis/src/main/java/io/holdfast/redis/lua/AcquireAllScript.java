package io.holdfast.redis.lua;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.ServerClock;
import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Takes several locks by one script, all or none: on one server any, in a cluster those of one slot. The script's keys are
 * computed, so it is not used where a service refuses that.
 */
public final class AcquireAllScript {

    /** More in one command would keep the server's other clients waiting noticeably. */
    private static final int LOCKS_MAX = 100;

    private static final int LATE = -1;
    private static final int UNUSABLE_KEY = -2;

    private final RedisKeys keys;
    private final Scripts scripts;
    private final RedisErrors errors;
    private final RedisConnections connections;
    private final Duration timeout;

    AcquireAllScript(
            RedisKeys keys, Scripts scripts, RedisErrors errors, RedisConnections connections, Duration timeout) {
        this.keys = keys;
        this.scripts = scripts;
        this.errors = errors;
        this.connections = connections;
        this.timeout = timeout;
    }

    /** Whether one script may take these. */
    boolean takes(List<String> names) {
        int group = connections.group(names.get(0));
        return scripts.allowed().batches()
                && names.size() <= LOCKS_MAX
                && names.stream().allMatch(name -> connections.group(name) == group);
    }

    /** Has seen a time of the server. */
    CompletionStage<AcquireAllReply> acquire(List<AcquireRequest> requests) {
        CompletableFuture<AcquireAllReply> outcome = new CompletableFuture<>();
        acquire(requests, outcome, true);
        return outcome;
    }

    private void acquire(List<AcquireRequest> requests, CompletableFuture<AcquireAllReply> outcome, boolean again) {
        ServerClock clock = connections.clock(requests.get(0).name());
        List<String> locks = new ArrayList<>();
        List<String> args = new ArrayList<>();
        args.add(Long.toString(clock.notAfterMillis(timeout)));
        args.add(Long.toString(requests.get(0).leaseMillis()));
        for (AcquireRequest request : requests) {
            locks.addAll(List.of(keys.of(request.name())));
            args.add(request.holderId());
            args.add(RedisKeys.redissonChannel(request.name()));
        }
        Scripts.Decoder<AcquireAllReply> decoder = (reply, unused) -> {
            clock.observe((Long) reply.get(1));
            int code = integer(reply, 0);
            if (code == LATE && again) {
                // Held up, or the server's clock was set: that is known now.
                acquire(requests, outcome, false);
            } else if (code == LATE) {
                outcome.completeExceptionally(errors.late());
            } else if (code == UNUSABLE_KEY) {
                String name = requests.get(integer(reply, 3) - 1).name();
                outcome.completeExceptionally(errors.unusableKey(name, (String) reply.get(2)));
            } else if (code == 0) {
                String name = requests.get(integer(reply, 2) - 1).name();
                outcome.complete(AcquireAllReply.busy(name, (Long) reply.get(3)));
            } else {
                outcome.complete(AcquireAllReply.taken(granted(reply, requests.size())));
            }
        };
        scripts.run(
                LuaScript.ACQUIRE_TOGETHER,
                locks.toArray(new String[0]),
                args.toArray(new String[0]),
                decoder,
                outcome);
    }

    private static List<Granted> granted(List<Object> reply, int count) {
        List<Granted> granted = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            granted.add(new Granted((Long) reply.get(2 + 2 * i), integer(reply, 3 + 2 * i)));
        }
        return granted;
    }

    private static int integer(List<Object> reply, int index) {
        return ((Long) reply.get(index)).intValue();
    }
}
