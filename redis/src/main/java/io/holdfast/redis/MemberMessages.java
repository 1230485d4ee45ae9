package io.holdfast.redis;

import io.holdfast.spi.QuorumMember;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one member of a quorum for this client: {@code r <rank> <name>}: released, and {@code c <id> <name>}:
 * somebody waits behind this id.
 */
final class MemberMessages extends RedisPubSubAdapter<String, String> implements RedisConnectionStateListener {

    private final String channel;
    private volatile QuorumMember.@Nullable Listener listener;
    private volatile @Nullable StatefulRedisPubSubConnection<String, String> connection;

    /** Whether the connection was lost since the subscription was last confirmed. */
    private volatile boolean missed;

    MemberMessages(String channel) {
        this.channel = channel;
    }

    void listen(QuorumMember.@Nullable Listener receiver) {
        listener = receiver;
    }

    CompletionStage<Void> attach(StatefulRedisPubSubConnection<String, String> connected) {
        connected.addListener((io.lettuce.core.pubsub.RedisPubSubListener<String, String>) this);
        connected.addListener((RedisConnectionStateListener) this);
        connection = connected;
        return connected.async().subscribe(channel);
    }

    /** Subscribes again: a sign of life that also mends a subscription which failed after a reconnect. */
    void beat() {
        StatefulRedisPubSubConnection<String, String> connected = connection;
        if (connected != null) {
            var unused = connected.async().subscribe(channel);
        }
    }

    /** The connection for commands or the one for messages was lost, and is back. */
    void reconnected() {
        QuorumMember.Listener receiver = listener;
        if (receiver != null) {
            receiver.reconnected();
        }
    }

    @Override
    public void message(String from, String message) {
        QuorumMember.Listener receiver = listener;
        int space = message.indexOf(' ', 2);
        if (receiver == null || space < 0) {
            return;
        }
        String detail = message.substring(2, space);
        String name = message.substring(space + 1);
        if (message.startsWith("r ") && detail.matches("\\d")) {
            receiver.released(name, Integer.parseInt(detail));
        } else if (message.startsWith("c ")) {
            receiver.contended(name, detail);
        }
    }

    @Override
    public void subscribed(String to, long count) {
        if (missed) {
            missed = false;
            reconnected();
        }
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
        missed = true;
    }
}
