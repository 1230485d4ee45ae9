package io.holdfast.redis;

import io.holdfast.quorum.QuorumMember;
import io.holdfast.redis.connect.Heartbeat;
import io.holdfast.redis.connect.RedisDiagnosis;
import io.holdfast.redis.connect.ServerConnections;
import io.holdfast.redis.connect.SharedThreads;
import io.holdfast.redis.lua.LuaScript;
import io.holdfast.redis.lua.ScriptHead;
import io.holdfast.redis.lua.ScriptReply;
import io.holdfast.redis.lua.Scripts;
import io.holdfast.redis.member.MemberMessages;
import io.holdfast.redis.member.RedisQuorumMember;
import io.holdfast.redis.messages.Publishing;
import io.holdfast.redis.server.OpeningErrors;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.RefusedCommands;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import java.util.List;
import java.util.concurrent.ExecutionException;

/** Opens one member of a quorum. Blocks until the member can be used. */
final class MemberOpening {

    private final RedisSettings settings;
    private final StoreContext context;
    private final OpeningErrors openingErrors;
    private final OpeningSteps steps;
    private final RedisErrors commandErrors;
    private final ServerConnections connections;
    private final SharedThreads threads;

    private MemberOpening(RedisSettings settings, SharedThreads threads, StoreContext context) {
        settings.nameConnections(context);
        this.settings = settings;
        this.context = context;
        this.openingErrors = new OpeningErrors(settings);
        this.steps = new OpeningSteps(settings, openingErrors);
        this.commandErrors = new RedisErrors(settings.describe(), settings.timeout());
        this.threads = threads;
        this.connections = new ServerConnections(settings, threads.join(), context.time());
    }

    static QuorumMember open(RedisSettings settings, SharedThreads threads, StoreContext context) {
        MemberOpening opening = new MemberOpening(settings, threads, context);
        try {
            return opening.open();
        } catch (RuntimeException e) {
            opening.disconnect();
            throw e;
        }
    }

    private void disconnect() {
        connections.close();
        threads.leave();
    }

    private QuorumMember open() {
        RedisKeys keys = RedisKeys.ofServer(settings.internalPrefix());
        MemberMessages messages = new MemberMessages(keys.clientChannels() + context.clientId());
        connections.onConnecting(messages::connecting);
        steps.connect(connections.connect(messages::resubscribed));
        Scripts scripts = new Scripts(
                LuaScript.OF_MEMBERS,
                connections,
                new ScriptHead(Publishing.PLAIN, keys.clientChannels(), false),
                commandErrors,
                context.time());
        checkScripts(scripts, keys);
        steps.load(LuaScript.OF_MEMBERS, scripts, connections.servers());
        // A server that forbids messages can still vote: waiting clients poll, and receive those of other members.
        steps.subscribe(
                connections.connectMessages().thenCompose(messages::attach),
                "its releases are noticed late",
                settings.internalPrefix() + ":c:*");
        Heartbeat heartbeat = new Heartbeat(context.time(), settings.heartbeat(), () -> {
            messages.beat();
            var unused = connections.commands().ping();
        });
        heartbeat.start();
        RedisDiagnosis diagnosis =
                new RedisDiagnosis(connections, keys, context.clientId(), context.time(), false, List.of());
        return new RedisQuorumMember(
                context.clientId(), settings, keys, scripts, commandErrors, connections, messages, diagnosis, () -> {
                    heartbeat.stop();
                    disconnect();
                });
    }

    /**
     * Fails if the server runs no scripts for this user, or refuses a command in them: every command to a member is a
     * script.
     */
    private void checkScripts(Scripts scripts, RedisKeys keys) {
        String[] probed = keys.probe(context.clientId());
        try {
            RefusedCommands refused = RefusedCommands.forGood(
                    steps.await(scripts.run(
                            LuaScript.QUORUM_PROBE,
                            new String[] {probed[0], probed[1]},
                            new String[0],
                            ScriptReply::texts)),
                    commandErrors);
            if (!refused.isEmpty()) {
                throw openingErrors.noCommands("RedLock", refused);
            }
        } catch (ExecutionException e) {
            StoreException failure = commandErrors.of(e);
            if (failure.outcome() == StoreException.Outcome.FATAL
                    && failure.getCause() instanceof RedisCommandExecutionException said) {
                throw openingErrors.noScripts(String.valueOf(said.getMessage()), e);
            }
            throw failure;
        }
    }
}
