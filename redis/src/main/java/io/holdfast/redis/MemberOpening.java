package io.holdfast.redis;

import io.holdfast.spi.QuorumMember;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Connects to one member of a quorum. Blocks. */
final class MemberOpening {

    private static final System.Logger LOG = System.getLogger(RedlockProvider.class.getName());

    private final RedisSettings settings;
    private final StoreContext context;
    private final OpeningErrors errors;
    private final RedisErrors commandErrors;
    private final ServerConnections connections;

    private MemberOpening(RedisSettings settings, StoreContext context) {
        this.settings = settings;
        this.context = context;
        this.errors = new OpeningErrors(settings);
        this.commandErrors = new RedisErrors(settings.describe(), settings.timeout());
        this.connections = new ServerConnections(settings, context.time());
    }

    static QuorumMember open(RedisSettings settings, StoreContext context) {
        MemberOpening opening = new MemberOpening(settings, context);
        try {
            return opening.open();
        } catch (RuntimeException e) {
            opening.connections.close();
            throw e;
        }
    }

    private QuorumMember open() {
        RedisKeys keys = new RedisKeys(settings.prefix());
        MemberMessages messages = new MemberMessages(keys.clientChannels() + context.clientId());
        connect(connections.connect(messages::reconnected));
        Scripts scripts = new Scripts(connections, Publishing.PLAIN, commandErrors, context.time());
        load(scripts);
        subscribe(messages);
        Heartbeat heartbeat = new Heartbeat(context.time(), settings.heartbeat(), () -> {
            messages.beat();
            var unused = connections.commands().ping();
        });
        heartbeat.start();
        return new RedisQuorumMember(
                context.clientId(), settings, keys, scripts, commandErrors, connections, messages, () -> {
                    heartbeat.stop();
                    connections.close();
                });
    }

    /** So that the first use of a script costs no second command. Where it is forbidden, that is what happens. */
    private void load(Scripts scripts) {
        List<CompletionStage<String>> loading = new ArrayList<>();
        for (LuaScript script : LuaScript.OF_MEMBERS) {
            loading.add(connections.commands().scriptLoad(scripts.text(script)));
        }
        for (CompletionStage<String> loaded : loading) {
            try {
                await(loaded);
            } catch (ExecutionException e) {
                LOG.log(System.Logger.Level.DEBUG, settings.describe() + " does not load scripts ahead", e);
            }
        }
    }

    /** A server that forbids the messages can still vote; those who wait find out by polls or from other members. */
    private void subscribe(MemberMessages messages) {
        StatefulRedisPubSubConnection<String, String> connection = connect(connections.connectMessages());
        try {
            await(messages.attach(connection));
        } catch (ExecutionException e) {
            if (!(RedisErrors.unwrap(e) instanceof RedisCommandExecutionException said)) {
                throw errors.notConnected(e);
            }
            LOG.log(
                    System.Logger.Level.WARNING,
                    settings.describe() + " refuses SUBSCRIBE, so its releases are noticed late: " + said.getMessage()
                            + " (allow the channels " + settings.prefix() + ":c:*)");
        }
    }

    private <T> T connect(CompletionStage<T> connecting) {
        try {
            return await(connecting);
        } catch (ExecutionException e) {
            throw errors.notConnected(e);
        }
    }

    private <T extends @Nullable Object> T await(CompletionStage<T> step) throws ExecutionException {
        try {
            return step.toCompletableFuture().get(2 * settings.timeout().toMillis() + 1_000, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException(
                    StoreException.Outcome.NOT_EXECUTED, "Interrupted while connecting to " + settings.describe(), e);
        } catch (TimeoutException e) {
            throw errors.noAnswer(e);
        }
    }
}
