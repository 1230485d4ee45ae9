package io.holdfast.redis;

import io.holdfast.redis.lua.LuaScript;
import io.holdfast.redis.lua.Scripts;
import io.holdfast.redis.server.Log;
import io.holdfast.redis.server.OpeningErrors;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.RedisSettings.Topology;
import io.holdfast.spi.StageWait;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The steps of opening a store or a member of a quorum. Each step blocks until it is done, and fails with the reason.
 */
final class OpeningSteps {

    private final RedisSettings settings;
    private final OpeningErrors errors;

    OpeningSteps(RedisSettings settings, OpeningErrors errors) {
        this.settings = settings;
        this.errors = errors;
    }

    /**
     * Waits for the connections. A cluster takes three steps, each of which may wait for a node that does not answer.
     */
    <T> T connect(CompletionStage<T> connecting) {
        try {
            return await(connecting, settings.topology() == Topology.CLUSTER ? 6 : 2);
        } catch (ExecutionException e) {
            throw errors.notConnected(e);
        }
    }

    /** Loads scripts, so that the first use of each costs no second command. Where that is forbidden, it costs one. */
    void load(Collection<LuaScript> needed, Scripts scripts, List<RedisClusterAsyncCommands<String, String>> servers) {
        List<CompletionStage<String>> loading = new ArrayList<>();
        for (RedisClusterAsyncCommands<String, String> server : servers) {
            for (LuaScript script : needed) {
                loading.add(server.scriptLoad(scripts.text(script)));
            }
        }
        for (CompletionStage<String> loaded : loading) {
            try {
                await(loaded);
            } catch (ExecutionException e) {
                Log.LOG.log(System.Logger.Level.DEBUG, settings.describe() + " does not load scripts ahead", e);
            }
        }
    }

    /**
     * Waits for the subscriptions. If the server refuses them, locks are slower and as safe, so that is only a warning.
     *
     * @param price what the refusal costs, for the warning
     * @param channels the channels that the user needs
     */
    void subscribe(CompletionStage<Void> subscribing, String price, String channels) {
        try {
            await(subscribing);
        } catch (ExecutionException e) {
            if (!(RedisErrors.unwrap(e) instanceof RedisCommandExecutionException said)) {
                throw errors.notConnected(e);
            }
            Log.LOG.log(
                    System.Logger.Level.WARNING,
                    settings.describe() + " refuses SUBSCRIBE, so " + price + ": " + said.getMessage()
                            + " (allow the channels " + channels + ")");
        }
    }

    /** Waits for a step. The driver has its own timeouts; this one catches what the driver forgets. */
    <T extends @Nullable Object> T await(CompletionStage<T> step) throws ExecutionException {
        return await(step, 2);
    }

    private <T extends @Nullable Object> T await(CompletionStage<T> step, int timeouts) throws ExecutionException {
        try {
            long millis = timeouts * settings.timeout().toMillis() + 1_000;
            return StageWait.await(step, Duration.ofMillis(millis));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw errors.interrupted(e);
        } catch (TimeoutException e) {
            throw errors.noAnswer(e);
        }
    }
}
