package io.holdfast.redis.messages;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.redis.server.RedisKeys;
import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.PipelinedRedisFuture;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

public class ServerSubscriptionsTest {

    private final VirtualTime time = new VirtualTime();
    private final AtomicInteger subscribed = new AtomicInteger();

    @Test
    void aConnectionThatIsLostAsSoonAsItIsMadeIsWaitedFor() {
        CompletableFuture<Void> attached = attach(3);
        assertThat(attached).isNotDone();
        time.advance(Duration.ofMillis(150));
        assertThat(attached).isCompleted();
        assertThat(subscribed).hasValue(4);
    }

    @Test
    void oneThatStaysAwayIsAnError() {
        CompletableFuture<Void> attached = attach(Integer.MAX_VALUE);
        time.advance(Duration.ofSeconds(1));
        assertThat(attached).isCompletedExceptionally();
        assertThat(time.pending()).isZero();
    }

    private CompletableFuture<Void> attach(int refusals) {
        ServerSubscriptions subscriptions = new ServerSubscriptions(
                RedisKeys.ofServer("holdfast"),
                "c",
                new Subscriptions.Receiver() {
                    @Override
                    public void message(String channel, String message, long sameClockSinceNanos) {}

                    @Override
                    public void missed() {}
                },
                time);
        return subscriptions.attach(connection(refusals)).toCompletableFuture();
    }

    /** A connection whose driver refuses the first commands for want of one. */
    @SuppressWarnings("unchecked")
    private StatefulRedisPubSubConnection<String, String> connection(int refusals) {
        RedisPubSubAsyncCommands<String, String> commands =
                (RedisPubSubAsyncCommands<String, String>) Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {RedisPubSubAsyncCommands.class},
                        (proxy, method, arguments) -> {
                            assertThat(method.getName()).isEqualTo("subscribe");
                            return new PipelinedRedisFuture<>(
                                    subscribed.getAndIncrement() < refusals
                                            ? CompletableFuture.failedFuture(new RedisException(
                                                    "Currently not connected. Commands are rejected."))
                                            : CompletableFuture.completedFuture(null));
                        });
        return (StatefulRedisPubSubConnection<String, String>) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {StatefulRedisPubSubConnection.class},
                (proxy, method, arguments) -> method.getName().equals("async") ? commands : null);
    }
}
