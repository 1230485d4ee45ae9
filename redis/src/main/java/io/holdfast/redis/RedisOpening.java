package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Connects a store and finds out whether the server can be used. */
final class RedisOpening {

    private static final System.Logger LOG = System.getLogger(RedisLockStoreProvider.class.getName());
    private static final Pattern VERSION = Pattern.compile("(?m)^redis_version:((\\d+)\\.[^\\s]*)");
    private static final int MAJOR_VERSION_MIN = 5;

    private final RedisSettings settings;
    private final StoreContext context;
    private final OpeningErrors errors;
    private final RedisErrors commandErrors;
    private final ServerConnections connections;

    private RedisOpening(RedisSettings settings, StoreContext context) {
        this.settings = settings;
        this.context = context;
        this.errors = new OpeningErrors(settings);
        this.commandErrors = new RedisErrors(settings.describe(), settings.timeout());
        this.connections = new ServerConnections(settings, context.time());
    }

    static LockStore open(RedisSettings settings, StoreContext context) {
        RedisOpening opening = new RedisOpening(settings, context);
        try {
            return opening.open();
        } catch (RuntimeException e) {
            opening.connections.close();
            throw e;
        }
    }

    private LockStore open() {
        RedisKeys keys = new RedisKeys(settings.prefix());
        RedisMessages messages = new RedisMessages(keys.clientChannels() + context.clientId(), context.time());
        connect(connections.connect(messages::reconnected));
        checkVersion(connections.commands());
        Scripts scripts = new Scripts(connections, commandErrors);
        load(connections.commands());
        probe(scripts, keys);
        subscribe(messages);

        Heartbeat heartbeat = new Heartbeat(context.time(), settings.heartbeat(), () -> {
            messages.beat();
            var unused = connections.commands().ping();
        });
        heartbeat.start();
        return new RedisLockStore(settings, keys, scripts, commandErrors, connections, messages, () -> {
            heartbeat.stop();
            connections.close();
        });
    }

    private void checkVersion(RedisClusterAsyncCommands<String, String> commands) {
        String info;
        try {
            info = await(commands.info("server"));
        } catch (ExecutionException e) {
            // Not everybody is allowed to ask; what the server cannot do will show.
            return;
        }
        Matcher version = VERSION.matcher(info);
        if (version.find() && Integer.parseInt(version.group(2)) < MAJOR_VERSION_MIN) {
            throw errors.tooOld(version.group(1));
        }
    }

    /** So that the first use of a script costs no second command. Where it is forbidden, that is what happens. */
    private void load(RedisClusterAsyncCommands<String, String> commands) {
        List<CompletionStage<String>> loading = new ArrayList<>();
        for (LuaScript script : LuaScript.values()) {
            loading.add(commands.scriptLoad(script.text()));
        }
        for (CompletionStage<String> loaded : loading) {
            try {
                await(loaded);
            } catch (ExecutionException e) {
                LOG.log(System.Logger.Level.DEBUG, settings.describe() + " does not load scripts ahead", e);
            }
        }
    }

    /** Reads the server's time, and makes sure that no script will be stopped half-way for want of a right. */
    private void probe(Scripts scripts, RedisKeys keys) {
        String[] probed = keys.probe(context.clientId());
        List<Object> reply;
        try {
            reply = await(scripts.<List<Object>>run(
                    LuaScript.PROBE, probed, new String[0], (answer, outcome) -> outcome.complete(answer)));
        } catch (ExecutionException e) {
            StoreException failure = commandErrors.of(e);
            if (failure.outcome() == StoreException.Outcome.FATAL
                    && failure.getCause() instanceof RedisCommandExecutionException said) {
                throw errors.noScripts(String.valueOf(said.getMessage()), said);
            }
            throw failure;
        }
        connections.clock(probed[0]).observe((Long) reply.get(0));
        String said = (String) reply.get(1);
        // A replica, say, or a full server: that may pass.
        if (!said.isEmpty() && commandErrors.refused(said, null).outcome() == StoreException.Outcome.FATAL) {
            throw errors.noCommands((String) reply.get(2));
        }
    }

    /** A server that forbids the messages is still good for locks: slower, not less safe. */
    private void subscribe(RedisMessages messages) {
        StatefulRedisPubSubConnection<String, String> connection = connect(connections.connectMessages());
        try {
            await(messages.attach(connection));
        } catch (ExecutionException e) {
            Throwable cause = RedisErrors.unwrap(e);
            if (!(cause instanceof RedisCommandExecutionException)) {
                throw errors.notConnected(e);
            }
            LOG.log(
                    System.Logger.Level.WARNING,
                    settings.describe() + " refuses SUBSCRIBE, so waiting clients only poll, and are served late: "
                            + cause.getMessage() + " (allow the channels " + settings.prefix()
                            + ":c:* and redisson_lock__channel:*)");
        }
    }

    private <T> T connect(CompletionStage<T> connecting) {
        try {
            return await(connecting);
        } catch (ExecutionException e) {
            throw errors.notConnected(e);
        }
    }

    /** Waits for a step. The driver has its own timeouts; this one is for the case that it forgets. */
    private <T extends @Nullable Object> T await(CompletionStage<T> step) throws ExecutionException {
        try {
            return step.toCompletableFuture().get(2 * settings.timeout().toMillis() + 1_000, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw errors.interrupted(e);
        } catch (TimeoutException e) {
            throw errors.noAnswer(e);
        }
    }
}
