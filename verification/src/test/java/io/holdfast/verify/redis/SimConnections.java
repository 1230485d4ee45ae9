package io.holdfast.verify.redis;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.connect.ServerConnections;
import io.holdfast.redis.messages.Publishing;
import io.holdfast.redis.messages.RedisMessages;
import io.holdfast.redis.messages.ServerSubscriptions;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.ServerClock;
import io.holdfast.redis.server.ServerId;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisReactiveCommandsImpl;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The connections of one process to the simulated Redis: what {@link ServerConnections} are to a real one. */
final class SimConnections implements RedisConnections {

    private static final long RECONNECT_NANOS = 50_000_000;

    private final SimEnd end;
    private final SimRedis server;
    private final RedisSettings settings;
    private final TimeSource time;
    private final SimWriter shared;
    private final StatefulRedisConnection<String, String> connection;
    private final SimSubscriber subscriber;
    private final List<SimWriter> all = new ArrayList<>();
    private Runnable connecting = () -> {};
    private Runnable reconnected = () -> {};
    private @Nullable ServerSubscriptions subscriptions;

    SimConnections(SimEnd end, SimRedis server, RedisSettings settings) {
        this.end = end;
        this.server = server;
        this.settings = settings;
        this.time = end.time();
        shared = new SimWriter(end, settings.timeout(), this::reconnect);
        connection = connection(shared);
        subscriber = new SimSubscriber(end, this::resubscribe);
        all.add(shared);
    }

    private StatefulRedisConnection<String, String> connection(RedisChannelWriter writer) {
        return new OnlyAsync(writer, settings.timeout());
    }

    /** The driver's connection. The other two ways to use one, which nobody uses here, take it longest to make. */
    private static final class OnlyAsync extends StatefulRedisConnectionImpl<String, String> {

        OnlyAsync(RedisChannelWriter writer, Duration timeout) {
            super(writer, null, StringCodec.UTF8, timeout, () -> {
                throw new AssertionError("nothing is written as JSON here");
            });
        }

        @Override
        protected @Nullable RedisCommands<String, String> newRedisSyncCommandsImpl() {
            return null;
        }

        @Override
        protected @Nullable RedisReactiveCommandsImpl<String, String> newRedisReactiveCommandsImpl() {
            return null;
        }
    }

    /** A process that begins while the server is away does not wait for it, as it would: it connects when it can. */
    @Override
    public void onConnecting(Runnable action) {
        connecting = action;
    }

    @Override
    public CompletionStage<Void> connect(Runnable whenReconnected) {
        reconnected = whenReconnected;
        if (server.accepts()) {
            shared.attach(server);
        } else {
            reconnect();
        }
        return CompletableFuture.completedFuture(null);
    }

    private void reconnect() {
        var unused = time.schedule(1 + end.random().nextLong(RECONNECT_NANOS), () -> {
            if (shared.isClosed()) {
                return;
            }
            if (server.accepts()) {
                connecting.run();
                shared.attach(server);
                reconnected.run();
            } else {
                reconnect();
            }
        });
    }

    private void resubscribe() {
        var unused = time.schedule(1 + end.random().nextLong(RECONNECT_NANOS), () -> {
            if (subscriber.isClosed()) {
                return;
            }
            if (server.accepts()) {
                subscriber.attach(server);
            } else {
                resubscribe();
            }
        });
    }

    @Override
    public RedisClusterAsyncCommands<String, String> commands() {
        return connection.async();
    }

    @Override
    public List<RedisClusterAsyncCommands<String, String>> servers() {
        return List.of(commands());
    }

    @Override
    public CompletionStage<StatefulRedisConnection<String, String>> dedicated(String key) {
        if (server.bug() == CommandsBug.WATCH_ON_THE_SHARED_CONNECTION) {
            return CompletableFuture.completedFuture(connection(new SharedWriter(shared)));
        }
        CompletableFuture<StatefulRedisConnection<String, String>> connecting = new CompletableFuture<>();
        SimWriter writer = new SimWriter(end, settings.timeout(), () -> {});
        StatefulRedisConnection<String, String> created = connection(writer);
        long delay = end.network().delayNanosMax;
        // There, and back.
        long takes = 2 + end.random().nextLong(delay) + end.random().nextLong(delay);
        long most = settings.timeout().toNanos();
        end.world()
                .schedule(
                        Math.min(takes, most),
                        () -> end.deliver(() -> {
                            if (takes < most && server.accepts() && !shared.isClosed()) {
                                writer.attach(server);
                                all.add(writer);
                                connecting.complete(created);
                            } else {
                                connecting.completeExceptionally(new RedisConnectionException("Unable to connect"));
                            }
                        }));
        return connecting;
    }

    @Override
    public CompletionStage<Void> subscribe(
            RedisKeys keys, String clientId, Publishing publishing, RedisMessages messages) {
        ServerSubscriptions created = new ServerSubscriptions(keys, clientId, messages, time);
        subscriptions = created;
        messages.from(created);
        if (server.accepts()) {
            subscriber.attach(server);
        } else {
            resubscribe();
        }
        return created.attach(subscriber.connection());
    }

    @Override
    public int group(String key) {
        return 0;
    }

    @Override
    public boolean reaches(String key) {
        return connection.isOpen();
    }

    @Override
    public ServerId server(String key) {
        return new ServerId("simulated");
    }

    @Override
    public ServerClock clock(String key) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Duration patience() {
        return Duration.ZERO;
    }

    @Override
    public void failed(String key, Throwable error) {}

    /** As the driver is set up: a connection on which nothing has come for a heartbeat and the timeout is lost. */
    @Override
    public void beat() {
        long silence = settings.heartbeat().plus(settings.timeout()).toNanos();
        for (SimWire wire : wires()) {
            if (time.nanoTime() - wire.heardNanos > silence) {
                wire.giveUp();
            }
        }
        all.removeIf(SimWriter::isClosed);
        var unused = commands().ping();
        if (subscriptions != null) {
            subscriptions.beat();
        }
    }

    private List<SimWire> wires() {
        List<SimWire> wires = new ArrayList<>();
        for (SimWriter writer : all) {
            SimWire wire = writer.wire();
            if (wire != null && wire.isOpen()) {
                wires.add(wire);
            }
        }
        SimWire messages = subscriber.wire();
        if (messages != null && messages.isOpen()) {
            wires.add(messages);
        }
        return wires;
    }

    /** Some or all of them end. */
    void cut() {
        boolean some = end.random().nextBoolean();
        for (SimWire wire : wires()) {
            if (!some || end.random().nextBoolean()) {
                wire.cut();
            }
        }
    }

    void processEnded() {
        wires().forEach(SimWire::processEnded);
    }

    boolean isQuiet() {
        return all.stream().allMatch(SimWriter::isQuiet);
    }

    @Override
    public void close() {
        all.forEach(SimWriter::close);
        subscriber.close();
    }
}
