package io.holdfast.redis;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.lua.Allowed;
import io.holdfast.redis.lua.LuaScript;
import io.holdfast.redis.lua.ScriptReply;
import io.holdfast.redis.lua.Scripts;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RefusedCommands;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/**
 * Tries, when a store is opened, what the server lets this user do: managed services and proxies forbid various
 * commands. Uses keys that no client uses.
 */
final class RedisProbe {

    /**
     * What a probe found.
     *
     * @param refused the commands that it refused for good. What a replica or a full server refuses may pass
     * @param refusedToPools those that only pools use
     * @param refusesTwoSlots whether the server refused the script that renews holds of several slots. Not if the trial
     *     failed for a reason that may pass: all clients of a server must agree about this
     */
    record Found(
            Allowed allowed,
            long serverMillis,
            RefusedCommands refused,
            RefusedCommands refusedToPools,
            boolean refusesTwoSlots) {}

    /** How the trial of a renewal of several holds ended. */
    private enum Batches {
        ALLOWED,
        /** A hold could not be made or was not found: nothing is known. */
        FAILED,
        REFUSED
    }

    /** The holder id of the holds that are renewed together. */
    private static final String HOLDER = "probe";

    /** Long enough for the trial, which deletes its keys. The expiry removes the keys of an aborted trial. */
    private static final long KEPT_MILLIS = 10_000;

    private final Scripts scripts;
    private final RedisConnections connections;
    private final RedisErrors errors;
    private final OpeningSteps steps;

    RedisProbe(Scripts scripts, RedisConnections connections, RedisErrors errors, OpeningSteps steps) {
        this.scripts = scripts;
        this.connections = connections;
        this.errors = errors;
        this.steps = steps;
    }

    /**
     * Probes, and restricts the scripts to what was found.
     *
     * @param keys three keys in one slot that no client uses
     * @param batchKeys the locks of some names that no client uses, then their queues, as one renewal has them
     * @param channel the client's own
     * @throws StoreException if the server did not answer, or refuses every way of running a script; its cause is the
     *     server's answer to the first, or to the first whose command it has
     */
    Found find(String[] keys, String[] batchKeys, String channel) {
        StoreException first = null;
        Allowed silent = Allowed.ALL.withPushes(false);
        for (Allowed allowed :
                new Allowed[] {Allowed.ALL, Allowed.ALL.withoutDigests(), silent, silent.withoutDigests()}) {
            scripts.restrict(allowed);
            try {
                ScriptReply reply = run(LuaScript.PROBE, keys, channel);
                long serverMillis = reply.number();
                RefusedCommands refused = RefusedCommands.forGood(reply.texts(), errors);
                boolean pushes = reply.flag();
                RefusedCommands refusedToPools = RefusedCommands.forGood(reply.texts(), errors);
                scripts.restrict(allowed.withPushes(pushes));
                Batches batches = batches(batchKeys);
                Allowed found = allowed.withPushes(pushes).withBatches(batches == Batches.ALLOWED);
                scripts.restrict(found);
                return new Found(found, serverMillis, refused, refusedToPools, batches == Batches.REFUSED);
            } catch (StoreException e) {
                if (!isRefusal(e)) {
                    throw e;
                }
                // EVAL does instead of EVALSHA, so a right that is missing tells more than a command that is.
                first = first == null || (isUnknownCommand(first) && !isUnknownCommand(e)) ? e : first;
            }
        }
        throw Objects.requireNonNull(first);
    }

    /**
     * Makes holds, each by its own command, and renews them together. A proxy in front of several servers may send a
     * script to the server of its first key, which refuses nothing and finds none of the other holds.
     */
    private Batches batches(String[] batchKeys) {
        try {
            hold(batchKeys);
            String[] args = new String[3 + batchKeys.length / 2];
            Arrays.fill(args, HOLDER);
            args[0] = "1000";
            args[1] = "0";
            args[2] = "0";
            ScriptReply reply = run(LuaScript.RENEW, batchKeys, args);
            reply.number();
            // The reply names each hold that was not found, also one that the server had no memory for.
            return reply.numbers().length == 0 ? Batches.ALLOWED : Batches.FAILED;
        } catch (StoreException e) {
            if (!isRefusal(e)) {
                throw e;
            }
            // Not if a proxy lost its server.
            return e.outcome() == StoreException.Outcome.FATAL ? Batches.REFUSED : Batches.FAILED;
        } finally {
            for (int i = 0; i < batchKeys.length / 2; i++) {
                var unused = connections.commands().del(batchKeys[i]);
            }
        }
    }

    /** Makes the holds, as far as that is possible now: a replica refuses all, a full server perhaps some. */
    private void hold(String[] batchKeys) {
        List<CompletionStage<ScriptReply>> holds = new ArrayList<>();
        String[] args = {HOLDER, Long.toString(KEPT_MILLIS)};
        for (int i = 0; i < batchKeys.length / 2; i++) {
            String[] lock = {batchKeys[i]};
            holds.add(scripts.run(connections.commands(), LuaScript.PROBE_HOLD, lock, args));
        }
        for (CompletionStage<ScriptReply> hold : holds) {
            try {
                steps.await(hold);
            } catch (ExecutionException e) {
                StoreException failure = errors.of(e);
                if (failure.outcome() != StoreException.Outcome.NOT_EXECUTED
                        || !(RedisErrors.unwrap(e) instanceof RedisCommandExecutionException)) {
                    throw failure;
                }
            }
        }
    }

    private ScriptReply run(LuaScript script, String[] keys, String... args) {
        try {
            return steps.await(scripts.run(script, keys, args, reply -> reply));
        } catch (ExecutionException e) {
            throw errors.of(e);
        }
    }

    private static boolean isUnknownCommand(StoreException e) {
        return e.getCause() != null
                && RedisErrors.isUnknownCommand(String.valueOf(e.getCause().getMessage()));
    }

    /** Returns whether another way may avoid the failure; not, for example, if the server is loading. */
    private static boolean isRefusal(StoreException e) {
        return e.outcome() != StoreException.Outcome.NOT_EXECUTED
                && e.getCause() instanceof RedisCommandExecutionException;
    }
}
