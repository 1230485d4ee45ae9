package io.holdfast.redis.lua;

import io.holdfast.redis.server.OpeningErrors;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.RefusedCommands;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What only the view of pools checks and reads. */
final class PoolRequests {

    private PoolRequests() {}

    /** Returns why a request is refused before it is sent; null if it is not. */
    @Nullable
    static StoreException refusal(AcquireRequest request, RedisSettings settings, RefusedCommands refused) {
        if (!refused.isEmpty()) {
            // A script that is stopped half-way would leave a weight that nobody holds.
            return new OpeningErrors(settings).noCommands("a permit", refused);
        }
        if (request.isInRange(AcquireRequest.CAPACITY_MAX)) {
            return null;
        }
        return new StoreException(
                StoreException.Outcome.FATAL,
                settings.describe() + ": weight " + request.weight() + " of capacity " + request.capacity()
                        + " (expected: a weight from 1 to the capacity, and a capacity of at most "
                        + AcquireRequest.CAPACITY_MAX + ")",
                null);
    }

    /** Reads the rest of the reply of pool-inspect.lua, after the time. */
    static StoreState state(ScriptReply reply) {
        long remaining = reply.number();
        long base = reply.number();
        int waiting = reply.integer();
        String holder = reply.text();
        int used = reply.integer();
        if (holder.isEmpty()) {
            return StoreState.free(waiting);
        }
        List<String> holders = reply.texts();
        long[] numbers = reply.numbers();
        List<StoreState.Held> held = new ArrayList<>(holders.size());
        for (int i = 0; i < holders.size(); i++) {
            held.add(new StoreState.Held(holders.get(i), (int) numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]));
        }
        return new StoreState(holder, remaining, base, waiting, used, held);
    }
}
