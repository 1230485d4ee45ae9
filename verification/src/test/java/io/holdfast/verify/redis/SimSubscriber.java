package io.holdfast.verify.redis;

import static java.util.Objects.requireNonNull;

import io.holdfast.redis.messages.ClientChannel;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.pubsub.RedisPubSubListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The driver's connection for messages, as far as {@link ClientChannel} uses it: it comes back by itself, and
 * subscribes again to what was subscribed to.
 */
final class SimSubscriber implements SimWire.Client {

    private static final class Answer extends CompletableFuture<Void> implements RedisFuture<Void> {
        @Override
        public @Nullable String getError() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean await(long time, TimeUnit unit) {
            throw new UnsupportedOperationException();
        }
    }

    private final SimEnd end;
    private final Runnable afterLoss;
    private final Set<String> channels = new LinkedHashSet<>();
    private final ArrayDeque<Answer> unanswered = new ArrayDeque<>();
    private final List<RedisPubSubListener<String, String>> receivers = new ArrayList<>();
    private final List<RedisConnectionStateListener> watchers = new ArrayList<>();
    private @Nullable SimWire wire;
    private boolean closed;

    SimSubscriber(SimEnd end, Runnable afterLoss) {
        this.end = end;
        this.afterLoss = afterLoss;
    }

    /** What the driver would give. */
    @SuppressWarnings("unchecked")
    StatefulRedisPubSubConnection<String, String> connection() {
        RedisPubSubAsyncCommands<String, String> commands =
                proxy(RedisPubSubAsyncCommands.class, (self, method, args) -> switch (method.getName()) {
                    case "subscribe" -> send("SUBSCRIBE", ((String[]) args[0])[0]);
                    case "unsubscribe" -> send("UNSUBSCRIBE", ((String[]) args[0])[0]);
                    default -> throw new AssertionError("The simulation has no " + method);
                });
        return proxy(StatefulRedisPubSubConnection.class, (self, method, args) -> switch (method.getName()) {
            case "async" -> commands;
            case "addListener" -> {
                if (args[0] instanceof RedisConnectionStateListener watcher
                        && method.getParameterTypes()[0] == RedisConnectionStateListener.class) {
                    watchers.add(watcher);
                } else {
                    receivers.add((RedisPubSubListener<String, String>) args[0]);
                }
                yield null;
            }
            default -> throw new AssertionError("The simulation has no " + method);
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(SimSubscriber.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    void attach(SimRedis server) {
        wire = new SimWire(end, server, this);
        // The real listeners do not look at these.
        watchers.forEach(watcher -> watcher.onRedisConnected(null, null));
        for (String channel : channels) {
            var unused = send("SUBSCRIBE", channel);
        }
    }

    @Nullable
    SimWire wire() {
        return wire;
    }

    boolean isClosed() {
        return closed;
    }

    void close() {
        closed = true;
        SimWire present = wire;
        if (present != null && present.isOpen()) {
            present.close();
        }
    }

    private RedisFuture<Void> send(String command, String channel) {
        Answer answer = new Answer();
        SimWire present = wire;
        if (present == null || !present.isOpen() || !present.send(List.of(command, channel))) {
            answer.completeExceptionally(new RedisException("Currently not connected. Commands are rejected."));
        } else {
            unanswered.add(answer);
        }
        return answer;
    }

    @Override
    public void answered(@Nullable Object answer) {
        List<?> said = (List<?>) requireNonNull(answer);
        String channel = (String) said.get(1);
        long count = (Long) said.get(2);
        Answer asked = unanswered.remove();
        boolean subscribed = said.get(0).equals("subscribe");
        if (subscribed) {
            channels.add(channel);
            receivers.forEach(receiver -> receiver.subscribed(channel, count));
        } else {
            channels.remove(channel);
            receivers.forEach(receiver -> receiver.unsubscribed(channel, count));
        }
        asked.complete(null);
    }

    @Override
    public void message(String channel, String message) {
        receivers.forEach(receiver -> receiver.message(channel, message));
    }

    @Override
    public void lost() {
        List<Answer> failed = List.copyOf(unanswered);
        unanswered.clear();
        watchers.forEach(watcher -> watcher.onRedisDisconnected(null));
        failed.forEach(answer -> answer.completeExceptionally(new RedisException("Connection disconnected")));
        if (!closed) {
            afterLoss.run();
        }
    }
}
