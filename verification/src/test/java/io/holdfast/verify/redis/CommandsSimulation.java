package io.holdfast.verify.redis;

import io.holdfast.redis.VerifyRedis;
import io.holdfast.redis.commands.CommandsLockStore;
import io.holdfast.redis.commands.CompareProbe;
import io.holdfast.redis.connect.DedicatedConnections;
import io.holdfast.redis.connect.Heartbeat;
import io.holdfast.redis.messages.Publishing;
import io.holdfast.redis.messages.RedisMessages;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.RedisUris;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.verify.engine.ForwardingStore;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One process's real store of the mode "commands", with all that belongs to it but the network: opened as the product
 * opens it, without threads.
 */
public final class CommandsSimulation {

    public static final Duration COMMAND_TIMEOUT = Duration.ofMillis(500);

    private final SimRedis server;
    private final SimConnections connections;
    private final RedisMessages messages;
    private final CommandsLockStore real;
    private final LockStore store;

    public CommandsSimulation(SimRedis server, String clientId, SimEnd end) {
        this.server = server;
        RedisSettings settings =
                RedisUris.parse(URI.create("redis://simulated?timeout=" + COMMAND_TIMEOUT.toMillis() + "ms"));
        RedisKeys keys = RedisKeys.ofServer(settings.internalPrefix());
        RedisErrors errors = new RedisErrors(settings.describe(), settings.timeout());
        connections = new SimConnections(end, server, settings);
        messages = new RedisMessages(keys, false, end.time());
        DedicatedConnections dedicated =
                new DedicatedConnections(connections::dedicated, connections::server, end.time(), errors);
        CompareProbe probe = new CompareProbe(connections, dedicated, errors, keys.probe(clientId));
        VerifyRedis opening = new VerifyRedis(
                settings,
                new StoreContext(clientId, end.time()),
                connections,
                errors,
                dedicated,
                probe,
                server.finding());
        connections.onConnecting(messages::connecting);
        var unused = connections
                .connect(() -> {
                    opening.reconnected();
                    messages.missed();
                })
                .thenCompose(connected -> connections.subscribe(keys, clientId, Publishing.PLAIN, messages));
        Heartbeat heartbeat = new Heartbeat(end.time(), settings.heartbeat(), () -> {
            connections.beat();
            opening.beat();
        });
        heartbeat.start();
        real = opening.store(keys, messages, end.random()::nextLong, () -> {
            heartbeat.stop();
            connections.close();
        });
        store = new Observed(real);
    }

    public LockStore store() {
        return store;
    }

    public boolean isQuiet() {
        return connections.isQuiet();
    }

    public void breakConnections() {
        connections.cut();
    }

    /** The process has gone, and the server notices. */
    public void processEnded() {
        connections.processEnded();
    }

    /** What is left when nobody holds or waits. */
    public String left() {
        String left = real.left();
        return left.isEmpty() && messages.redisson().size() > 0
                ? messages.redisson().size() + " channels of releases"
                : left;
    }

    /** Tells the truth about what the client knows, and has the bugs of the client's side. */
    private final class Observed extends ForwardingStore {

        Observed(LockStore real) {
            super(real);
        }

        @Override
        public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
            return real.acquire(request).thenApply(reply -> observed(request, reply));
        }

        private AcquireReply observed(AcquireRequest request, AcquireReply reply) {
            if (reply instanceof Granted granted) {
                server.granted(request.name(), request.holderId(), granted.base());
            }
            return reply;
        }

        @Override
        public CompletionStage<RenewReply> renew(RenewRequest request) {
            return real.renew(request)
                    .thenApply(
                            reply -> server.bug() == CommandsBug.RENEWS_WHAT_IS_GONE && reply instanceof RenewReply.Gone
                                    ? new RenewReply.Renewed(0)
                                    : reply);
        }

        @Override
        public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
            AcquireRequest again = request.requeue();
            return real.release(request).thenApply(reply -> {
                if (reply.wasHeld()) {
                    server.released(request.name(), request.holderId());
                }
                AcquireReply requeued = reply.requeued();
                return requeued == null || again == null
                        ? reply
                        : new ReleaseReply(reply.wasHeld(), observed(again, requeued));
            });
        }

        @Override
        public CompletionStage<Boolean> abandon(String name, String holderId) {
            return server.bug() == CommandsBug.NOTHING_IS_WITHDRAWN
                    ? CompletableFuture.completedFuture(true)
                    : real.abandon(name, holderId);
        }
    }
}
