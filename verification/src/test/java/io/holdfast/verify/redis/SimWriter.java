package io.holdfast.verify.redis;

import io.holdfast.redis.connect.Driver;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.protocol.ConnectionFacade;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.protocol.RedisStateMachine;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.tracing.Tracing;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Takes the place of the driver's network part under a connection of the driver's own: commands are encoded,
 * transactions kept and answers read by the real driver. Set up as {@link Driver} sets it up: nothing is sent again,
 * nothing is kept for later, a command fails when its time is over.
 */
final class SimWriter implements RedisChannelWriter, SimWire.Client {

    /** Only the question whether calls are traced is answered. */
    private static final ClientResources RESOURCES = (ClientResources) Proxy.newProxyInstance(
            SimWriter.class.getClassLoader(), new Class<?>[] {ClientResources.class}, (proxy, method, args) -> {
                if (method.getName().equals("tracing")) {
                    return Tracing.disabled();
                }
                throw new AssertionError("The driver asks for " + method);
            });

    private final SimEnd end;
    private final Duration timeout;

    /** What to do when the connection is lost. */
    private final Runnable afterLoss;

    private final RedisStateMachine decoder = new RedisStateMachine();
    private final ArrayDeque<RedisCommand<?, ?, ?>> unanswered = new ArrayDeque<>();
    private @Nullable SimWire wire;
    private @Nullable ConnectionFacade connection;
    private boolean closed;

    SimWriter(SimEnd end, Duration timeout, Runnable afterLoss) {
        this.end = end;
        this.timeout = timeout;
        this.afterLoss = afterLoss;
    }

    /** There is a connection now. */
    void attach(SimRedis server) {
        wire = new SimWire(end, server, this);
        if (connection != null) {
            connection.activated();
        }
    }

    @Nullable
    SimWire wire() {
        return wire;
    }

    boolean isClosed() {
        return closed;
    }

    boolean isQuiet() {
        return unanswered.isEmpty();
    }

    @Override
    public <K, V, T> RedisCommand<K, V, T> write(RedisCommand<K, V, T> command) {
        if (closed) {
            command.completeExceptionally(new RedisException("Connection is closed"));
            return command;
        }
        SimWire present = wire;
        if (present == null || !present.isOpen() || !present.send(Resp.words(command))) {
            command.completeExceptionally(new RedisException("Currently not connected. Commands are rejected."));
            return command;
        }
        unanswered.add(command);
        var unused = end.time().schedule(timeout.toNanos(), () -> {
            if (!command.isDone()) {
                command.completeExceptionally(new RedisCommandTimeoutException("Command timed out"));
            }
        });
        return command;
    }

    @Override
    public <K, V> Collection<RedisCommand<K, V, ?>> write(Collection<? extends RedisCommand<K, V, ?>> commands) {
        List<RedisCommand<K, V, ?>> written = new ArrayList<>();
        commands.forEach(command -> written.add(write(command)));
        return written;
    }

    @Override
    public void answered(@Nullable Object answer) {
        RedisCommand<?, ?, ?> command = unanswered.remove();
        Resp.read(answer, decoder, command.getOutput());
        command.complete();
    }

    @Override
    public void message(String channel, String message) {
        throw new AssertionError("A message on a connection for commands: " + message);
    }

    @Override
    public void lost() {
        if (connection != null) {
            connection.deactivated();
        }
        failAll(closed ? "Connection closed" : "Connection disconnected");
        if (!closed) {
            afterLoss.run();
        }
    }

    private void failAll(String why) {
        List<RedisCommand<?, ?, ?>> failed = List.copyOf(unanswered);
        unanswered.clear();
        failed.forEach(command -> command.completeExceptionally(new RedisException(why)));
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            SimWire present = wire;
            if (present != null && present.isOpen()) {
                present.close();
            }
            failAll("Connection closed");
        }
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        close();
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void setConnectionFacade(ConnectionFacade facade) {
        connection = facade;
    }

    @Override
    public void setAutoFlushCommands(boolean autoFlush) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void flushCommands() {}

    @Override
    public ClientResources getClientResources() {
        return RESOURCES;
    }
}
