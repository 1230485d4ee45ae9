package io.holdfast.redis;

import io.holdfast.spi.QuorumMember;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import java.util.concurrent.ExecutionException;

/** Connects to one member of a quorum. Blocks. */
final class MemberOpening {

    private static final System.Logger LOG = System.getLogger(RedlockProvider.class.getName());

    private final RedisSettings settings;
    private final StoreContext context;
    private final OpeningSteps steps;
    private final RedisErrors commandErrors;
    private final ServerConnections connections;
    private final SharedThreads threads;

    private MemberOpening(RedisSettings settings, SharedThreads threads, StoreContext context) {
        this.settings = settings;
        this.context = context;
        this.steps = new OpeningSteps(settings, new OpeningErrors(settings));
        this.commandErrors = new RedisErrors(settings.describe(), settings.timeout());
        this.threads = threads;
        this.connections = new ServerConnections(settings.with(threads.join()), context.time());
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
        RedisKeys keys = new RedisKeys(settings.prefix());
        MemberMessages messages = new MemberMessages(keys.clientChannels() + context.clientId());
        steps.connect(connections.connect(messages::resubscribed));
        Scripts scripts = new Scripts(connections, Publishing.PLAIN, commandErrors, context.time());
        SameLife life = new SameLife(messages::resubscribed);
        DedicatedConnections dedicated = withScripts(scripts, keys)
                ? null
                : new DedicatedConnections(
                        key -> life.checked(connections.dedicated(key)),
                        connections::server,
                        context.time(),
                        settings.timeout(),
                        commandErrors);
        if (dedicated == null) {
            steps.load(LuaScript.OF_MEMBERS, scripts, connections.servers());
        }
        // A server that forbids the messages can still vote; those who wait find out by polls or from other members.
        steps.subscribe(
                connections.connectMessages().thenCompose(messages::attach),
                "its releases are noticed late",
                settings.prefix() + ":c:*");
        Heartbeat heartbeat = new Heartbeat(context.time(), settings.heartbeat(), () -> {
            messages.subscribeAgain();
            var unused = connections.commands().ping();
            if (dedicated != null) {
                dedicated.beat();
            }
        });
        heartbeat.start();
        Runnable closing = () -> {
            heartbeat.stop();
            if (dedicated != null) {
                dedicated.close();
            }
            disconnect();
        };
        if (dedicated == null) {
            return new RedisQuorumMember(
                    context.clientId(), settings, keys, scripts, commandErrors, connections, messages, closing);
        }
        CommandsQuorumMember member = new CommandsQuorumMember(
                context.clientId(),
                settings,
                keys,
                commandErrors,
                connections,
                new MemberTransactions(dedicated, commandErrors),
                messages,
                closing);
        try {
            check(member);
        } catch (RuntimeException e) {
            heartbeat.stop();
            dedicated.close();
            throw e;
        }
        return member;
    }

    /** Whether this member is used by scripts. A server that answers the first script with a refusal for good runs none. */
    private boolean withScripts(Scripts scripts, RedisKeys keys) {
        if (settings.mode() == RedisMode.COMMANDS) {
            return false;
        }
        try {
            steps.await(scripts.run(
                    LuaScript.QUORUM_LOOK,
                    new String[] {keys.birth()},
                    new String[0],
                    (reply, outcome) -> outcome.complete(reply)));
            return true;
        } catch (ExecutionException e) {
            StoreException failure = commandErrors.of(e);
            boolean refused = failure.outcome() == StoreException.Outcome.FATAL
                    && failure.getCause() instanceof RedisCommandExecutionException;
            if (!refused || settings.mode() == RedisMode.LUA) {
                throw failure;
            }
            LOG.log(
                    System.Logger.Level.INFO,
                    settings.describe()
                            + " runs no scripts for this user, so it is used by WATCH/MULTI (mode commands): "
                            + failure.getMessage());
            return false;
        }
    }

    /** Finds out at once if the server refuses transactions as well. */
    private void check(CommandsQuorumMember member) {
        try {
            steps.await(member.check());
        } catch (ExecutionException e) {
            throw commandErrors.of(e);
        }
    }
}
