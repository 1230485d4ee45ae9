package io.holdfast.redis.lua;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Finds out, when a store is opened, what the server lets this user do: managed services and proxies forbid one thing or
 * another. Asks by doing it, with keys that nobody uses.
 */
public final class RedisProbe {

    /** Waits for an answer. */
    @FunctionalInterface
    public interface Awaiting {
        List<Object> await(CompletableFuture<List<Object>> answer) throws ExecutionException;
    }

    /** What a probe found: the time of the server, and what it refused. */
    public record Found(Allowed allowed, long serverMillis, String said, String missingRights) {}

    /** Holder id of the holds that are renewed together. */
    private static final String HOLDER = "probe";

    /** Long enough for the trial. They are deleted after it; this is for a trial that breaks off. */
    private static final long KEPT_MILLIS = 10_000;

    private final Scripts scripts;
    private final RedisConnections connections;
    private final RedisErrors errors;
    private final Awaiting waiting;

    public RedisProbe(Scripts scripts, RedisConnections connections, RedisErrors errors, Awaiting waiting) {
        this.scripts = scripts;
        this.connections = connections;
        this.errors = errors;
        this.waiting = waiting;
    }

    /**
     * Asks. The scripts are restricted to what was found then.
     *
     * @param keys three that nobody uses, in one slot
     * @param batchKeys lock and queue of each of some names that nobody uses, as they come together in one renewal
     * @param channel the client's own
     * @throws StoreException if the server did not answer, or refuses whatever way of running a script; its cause is what
     *     it said to the first
     */
    public Found find(String[] keys, String[] batchKeys, String channel) {
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

    /**
     * Makes holds, each by a command of its own, and renews them together. A proxy in front of several servers may send a
     * script to the server of its first key: that refuses nothing, and finds none of the other holds.
     */
    private boolean batches(String[] batchKeys) {
        try {
            int made = hold(batchKeys);
            String[] args = new String[batchKeys.length];
            Arrays.fill(args, "");
            for (int i = 0; i < args.length; i += 2) {
                args[i] = HOLDER;
            }
            args[1] = "1000:0:0";
            List<Object> reply = run(LuaScript.RENEW, batchKeys, args);
            boolean found = true;
            for (int i = 1; i < reply.size(); i += 3) {
                found &= (Long) reply.get(i) == 1;
            }
            // If none could be made, it is one server that refuses all writes now, being a replica or full. If only
            // some
            // could not, they belong to another server, of which nothing is known.
            return made == 0 || (found && made == batchKeys.length / 2);
        } catch (StoreException e) {
            if (!isRefusal(e)) {
                throw e;
            }
            return false;
        } finally {
            for (int i = 0; i < batchKeys.length; i += 2) {
                var unused = connections.commands().del(batchKeys[i]);
            }
        }
    }

    /** How many of the holds could be made. */
    private int hold(String[] batchKeys) {
        List<CompletableFuture<List<Object>>> holds = new ArrayList<>();
        String[] args = {HOLDER, Long.toString(KEPT_MILLIS)};
        for (int i = 0; i < batchKeys.length; i += 2) {
            String[] lock = {batchKeys[i]};
            holds.add(scripts.run(connections.commands(), LuaScript.PROBE_HOLD, lock, args)
                    .toCompletableFuture());
        }
        int made = 0;
        for (CompletableFuture<List<Object>> hold : holds) {
            try {
                waiting.await(hold);
                made++;
            } catch (ExecutionException e) {
                StoreException failure = errors.of(e);
                if (failure.outcome() != StoreException.Outcome.NOT_EXECUTED
                        || !(RedisErrors.unwrap(e) instanceof RedisCommandExecutionException)) {
                    throw failure;
                }
            }
        }
        return made;
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
        return e.outcome() != StoreException.Outcome.NOT_EXECUTED
                && e.getCause() instanceof RedisCommandExecutionException;
    }
}
