package io.holdfast.redis;

import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Finds out, when a store is opened, what the server lets this user do: managed services and proxies forbid one thing or
 * another. Asks by doing it, with keys that nobody uses.
 */
final class RedisProbe {

    /** Waits for an answer. */
    @FunctionalInterface
    interface Awaiting {
        List<Object> await(CompletableFuture<List<Object>> answer) throws ExecutionException;
    }

    /** What a probe found: the time of the server, and what it refused. */
    record Found(Allowed allowed, long serverMillis, String said, String missingRights) {}

    private final Scripts scripts;
    private final RedisErrors errors;
    private final Awaiting waiting;

    RedisProbe(Scripts scripts, RedisErrors errors, Awaiting waiting) {
        this.scripts = scripts;
        this.errors = errors;
        this.waiting = waiting;
    }

    /**
     * Asks. The scripts are restricted to what was found then.
     *
     * @param keys three that nobody uses, in one slot
     * @param batchKeys lock and queue of two names that nobody uses, as they come together in one renewal
     * @param channel the client's own
     * @throws StoreException if the server did not answer, or refuses whatever way of running a script; its cause is what
     *     it said to the first
     */
    Found find(String[] keys, String[] batchKeys, String channel) {
        StoreException first = null;
        for (Allowed allowed : new Allowed[] {
            Allowed.ALL, new Allowed(false, true, true), new Allowed(true, false, true), new Allowed(false, false, true)
        }) {
            scripts.restrict(allowed);
            try {
                List<Object> reply = run(LuaScript.PROBE, keys, channel);
                boolean pushes = (Long) reply.get(3) == 1;
                scripts.restrict(new Allowed(allowed.digests(), pushes, true));
                Allowed found = new Allowed(allowed.digests(), pushes, batches(batchKeys));
                scripts.restrict(found);
                return new Found(found, (Long) reply.get(0), (String) reply.get(1), (String) reply.get(2));
            } catch (StoreException e) {
                if (!isRefusal(e)) {
                    throw e;
                }
                first = first == null ? e : first;
            }
        }
        throw Objects.requireNonNull(first);
    }

    /** Renews two holds that nobody has. */
    private boolean batches(String[] batchKeys) {
        try {
            run(LuaScript.RENEW, batchKeys, "none", "1000:0:0", "none", "");
            return true;
        } catch (StoreException e) {
            if (!isRefusal(e)) {
                throw e;
            }
            return false;
        }
    }

    private List<Object> run(LuaScript script, String[] keys, String... args) {
        try {
            return waiting.await(
                    scripts.<List<Object>>run(script, keys, args, (answer, outcome) -> outcome.complete(answer)));
        } catch (ExecutionException e) {
            throw errors.of(e);
        }
    }

    /** A no that another way may get round; not that the server is loading, say. */
    private static boolean isRefusal(StoreException e) {
        return e.outcome() == StoreException.Outcome.FATAL && e.getCause() instanceof RedisCommandExecutionException;
    }
}
