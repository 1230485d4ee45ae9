package io.holdfast.redis.messages;

import io.holdfast.redis.server.RedisKeys;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Subscribes to Redisson's channel of a lock while one of this client's holder ids waits for it and Redisson holds it.
 * Redisson does not know Holdfast's queue, and announces its release on that channel only.
 *
 * <p>There is one subscription for each channel, for as long as an id needs it. If it fails, waiters poll.
 */
public final class RedissonReleases {

    /** Sends SUBSCRIBE and UNSUBSCRIBE; does not block. */
    interface Channels {
        /**
         * Subscribes. Completes when the subscription is confirmed.
         *
         * @param name the lock that the channel belongs to
         */
        CompletionStage<Void> subscribe(String name, String channel);

        void unsubscribe(String channel);
    }

    /** The subscription to one channel. Two lock names can share a channel: {@code x} and <code>{x}</code>. */
    private static final class Subscription {
        /** By lock name: the ids that wait, and the nonce of the last request of each. */
        final Map<String, Map<String, Long>> idsByName = new HashMap<>();

        boolean sent;
    }

    private final Channels channels;
    private final Consumer<String> released;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Subscription> byChannel = new HashMap<>(); // by lock

    /** Whether there is a subscription; read without the lock, because most calls find none. */
    private volatile boolean active;

    /** @param released receives the name of a lock that may have become free */
    RedissonReleases(Channels channels, Consumer<String> released) {
        this.channels = channels;
        this.released = released;
    }

    /** Records that the id waits for this name, which Redisson holds, since a request with this nonce. */
    public void watch(String name, String holderId, long nonce) {
        String channel = RedisKeys.redissonChannel(name);
        CompletionStage<Void> subscribing = null;
        lock.lock();
        try {
            Subscription subscription = byChannel.computeIfAbsent(channel, c -> new Subscription());
            subscription.idsByName.computeIfAbsent(name, n -> new HashMap<>()).put(holderId, nonce);
            active = true;
            if (!subscription.sent) {
                subscription.sent = true;
                // Sent under the lock, so that it cannot overtake an earlier UNSUBSCRIBE.
                subscribing = channels.subscribe(name, channel);
            }
        } finally {
            lock.unlock();
        }
        if (subscribing != null) {
            subscribing.whenComplete((ok, error) -> subscribed(channel, name, error));
        }
    }

    /** Records that the id no longer waits for Redisson. */
    public void unwatch(String name, String holderId) {
        unwatch(name, holderId, null);
    }

    /**
     * Records that the id no longer waits for Redisson, as a message says. Anybody can send such a message: it has no
     * effect unless it repeats the nonce.
     */
    void unwatch(String name, String holderId, @Nullable Long nonce) {
        if (!active) {
            return;
        }
        String channel = RedisKeys.redissonChannel(name);
        lock.lock();
        try {
            Subscription subscription = byChannel.get(channel);
            Map<String, Long> ids = subscription == null ? null : subscription.idsByName.get(name);
            Long known = ids == null ? null : ids.get(holderId);
            if (subscription == null || ids == null || known == null || (nonce != null && !nonce.equals(known))) {
                return;
            }
            ids.remove(holderId);
            if (!ids.isEmpty()) {
                return;
            }
            subscription.idsByName.remove(name);
            if (subscription.idsByName.isEmpty()) {
                byChannel.remove(channel);
                active = !byChannel.isEmpty();
                channels.unsubscribe(channel);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Receives a message on one of Redisson's channels. */
    void message(String channel) {
        List<String> names;
        lock.lock();
        try {
            Subscription subscription = byChannel.get(channel);
            if (subscription == null) {
                // Subscribed again by the driver after a reconnect that swallowed our UNSUBSCRIBE.
                channels.unsubscribe(channel);
                return;
            }
            names = List.copyOf(subscription.idsByName.keySet());
        } finally {
            lock.unlock();
        }
        names.forEach(released);
    }

    public int size() {
        lock.lock();
        try {
            return byChannel.size();
        } finally {
            lock.unlock();
        }
    }

    private void subscribed(String channel, String name, @Nullable Throwable error) {
        if (error == null) {
            // Redisson may have released between the answer "busy" and the subscription.
            released.accept(name);
            return;
        }
        lock.lock();
        try {
            Subscription subscription = byChannel.get(channel);
            if (subscription != null) {
                subscription.sent = false; // The next poll tries again.
            }
        } finally {
            lock.unlock();
        }
    }
}
