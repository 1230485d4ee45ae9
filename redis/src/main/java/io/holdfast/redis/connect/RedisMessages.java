package io.holdfast.redis.connect;

import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Understands the messages for this client, and passes them on to the engine.
 *
 * <p>On the client's channels there are {@code g <holder id> …}: granted, see {@code passOn} in common.lua, {@code c <holder
 * id> <name>}: somebody waits behind this holder, and {@code r <holder id> <name>}: released, and this id is the first
 * that waits, and {@code y <holder id> <ms> <name>}: left free for the clients that wait at Redisson, for this time. All other
 * channels are Redisson's. Without subscriptions nothing arrives, and waiters poll.
 */
public final class RedisMessages implements Subscriptions.Receiver, RedissonReleases.Channels {

    /** Longer than any turn that a script gives. */
    private static final int TURN_MAX_MILLIS = 1_000;

    private final String clientChannels;
    private final boolean confirmsGrants;
    private final TimeSource time;
    private final RedissonReleases redisson;
    private volatile @Nullable StoreListener listener;
    private volatile @Nullable Subscriptions subscriptions;

    /**
     * For one client.
     *
     * @param clientChannels what the names of all channels begin with that are not Redisson's
     * @param confirmsGrants whether the receiver of a grant must ask again before it uses it: replicas may not have it
     */
    public RedisMessages(String clientChannels, boolean confirmsGrants, TimeSource time) {
        this.clientChannels = clientChannels;
        this.confirmsGrants = confirmsGrants;
        this.time = time;
        this.redisson = new RedissonReleases(this, this::released);
    }

    public void listen(StoreListener receiver) {
        listener = receiver;
    }

    /** Where they come from. */
    public void from(Subscriptions source) {
        subscriptions = source;
    }

    /** Nothing is told, and nothing sent, from now on. */
    public void stop() {
        listener = null;
        Subscriptions source = subscriptions;
        if (source != null) {
            source.stop();
        }
    }

    /** See {@link Subscriptions#grantChannels}. */
    public String grantChannels(String name) {
        Subscriptions source = subscriptions;
        return source == null ? clientChannels : source.grantChannels(name);
    }

    /** See {@link Subscriptions#ready}. */
    public boolean ready(String name) {
        Subscriptions source = subscriptions;
        return source == null || source.ready(name);
    }

    /** See {@link Subscriptions#prepare}. */
    public CompletionStage<Void> prepare(String name) {
        Subscriptions source = subscriptions;
        return source == null ? CompletableFuture.completedFuture(null) : source.prepare(name);
    }

    /** See {@link Subscriptions#waiting}. */
    public void waiting(String name) {
        Subscriptions source = subscriptions;
        if (source != null) {
            source.waiting(name);
        }
    }

    public RedissonReleases redisson() {
        return redisson;
    }

    @Override
    public CompletionStage<Void> subscribe(String name, String channel) {
        Subscriptions source = subscriptions;
        return source == null ? new CompletableFuture<>() : source.subscribe(name, channel);
    }

    @Override
    public void unsubscribe(String channel) {
        Subscriptions source = subscriptions;
        if (source != null) {
            source.unsubscribe(channel);
        }
    }

    /** Passes on that a waiter for this name should ask now. */
    private void released(String name) {
        StoreListener receiver = listener;
        if (receiver != null) {
            receiver.released(name);
        }
    }

    /** A lost connection for commands is about to take commands again. */
    public void connecting() {
        StoreListener receiver = listener;
        if (receiver != null) {
            receiver.connecting();
        }
    }

    @Override
    public void missed() {
        StoreListener receiver = listener;
        if (receiver != null) {
            receiver.reconnected();
        }
    }

    @Override
    public void message(String channel, String message, long sameClockSinceNanos) {
        if (!channel.startsWith(clientChannels)) {
            redisson.message(channel);
            return;
        }
        StoreListener receiver = listener;
        int space = message.indexOf(' ', 2);
        if (receiver == null || space < 0) {
            return;
        }
        if (message.startsWith("g ")) {
            PushedGrant grant = grant(message, sameClockSinceNanos);
            if (grant == null) {
                return;
            }
            redisson.unwatch(grant.name(), grant.holderId());
            if (confirmsGrants) {
                receiver.granted(grant.name(), grant.holderId());
            } else {
                receiver.granted(grant);
            }
        } else if (message.startsWith("c ")) {
            receiver.contended(message.substring(space + 1), message.substring(2, space));
        } else if (message.startsWith("r ")) {
            receiver.released(message.substring(space + 1));
        } else if (message.startsWith("y ")) {
            left(message, space + 1);
        }
    }

    /** The waiter asks when Redisson's turn is over. Were it to ask now, it would take what was left for others. */
    private void left(String message, int at) {
        int space = message.indexOf(' ', at);
        if (space < 0) {
            return;
        }
        try {
            int millis = Integer.parseInt(message.substring(at, space));
            String name = message.substring(space + 1);
            time.schedule(Math.max(0, Math.min(millis, TURN_MAX_MILLIS)) * 1_000_000L, () -> released(name));
        } catch (NumberFormatException e) {
            // It is none of ours: anybody may publish anything.
        }
    }

    /** Null if it is none of ours: anybody may publish anything. */
    private static @Nullable PushedGrant grant(String message, long sameClockSinceNanos) {
        // The name comes last, because there may be spaces in it.
        String[] parts = message.split(" ", 8);
        if (parts.length < 8) {
            return null;
        }
        try {
            return new PushedGrant(
                    parts[7],
                    parts[1],
                    Long.parseLong(parts[2]),
                    Integer.parseInt(parts[3]),
                    Long.parseLong(parts[4]),
                    Long.parseLong(parts[5]),
                    Long.parseLong(parts[6]),
                    sameClockSinceNanos);
        } catch (NumberFormatException e) {
            return null;
        }
    }
}
