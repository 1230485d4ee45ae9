package io.holdfast.redis;

import io.holdfast.spi.QuorumMember;
import io.holdfast.spi.StoreContext;

/** Connects to one member of a quorum. Blocks. */
final class MemberOpening {

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
        steps.load(LuaScript.OF_MEMBERS, scripts, connections.servers());
        // A server that forbids the messages can still vote; those who wait find out by polls or from other members.
        steps.subscribe(
                connections.connectMessages().thenCompose(messages::attach),
                "its releases are noticed late",
                settings.prefix() + ":c:*");
        Heartbeat heartbeat = new Heartbeat(context.time(), settings.heartbeat(), () -> {
            messages.subscribeAgain();
            var unused = connections.commands().ping();
        });
        heartbeat.start();
        return new RedisQuorumMember(
                context.clientId(), settings, keys, scripts, commandErrors, connections, messages, () -> {
                    heartbeat.stop();
                    disconnect();
                });
    }
}
