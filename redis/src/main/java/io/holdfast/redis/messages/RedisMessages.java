package io.holdfast.redis.messages;

import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.TimeSource;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Parses the messages for this client, and passes them on to the engine.
 *
 * <p>The client's channels carry these messages:
 *
 * <ul>
 *   <li>{@code g <holder id> …}: the lock was granted to this holder; see {@code passOn} in common.lua
 *   <li>{@code c <holder id> <name>}: a client waits behind this holder
 *   <li>{@code f <holder id> <name>}: the hold of this holder was ended by force
 *   <li>{@code r <holder id> <name>}: the lock was released, and this holder waits first
 *   <li>{@code y <holder id> <ms> <name>}: the lock was left free, for this time, for the clients that wait at Redisson
 * </ul>
 *
 * <p>All other channels are Redisson's. Without subscriptions nothing arrives, and waiters poll.
 */
public final class RedisMessages implements Subscriptions.Receiver {

    /** Nonces are sent with each request that queues, so they are short. */
    public static final int NONCE_RADIX = Character.MAX_RADIX;

    /** Longer than any turn that a script gives. */
    private static final int TURN_MAX_MILLIS = 1_000;

    /** The time over which {@link #listenSpread} spreads releases. */
    private static final long SPREAD_NANOS = 2_000_000;

    private final RedisKeys keys;
    private final String clientChannels;
    private final boolean confirmsGrants;
    private final TimeSource time;
    private volatile @Nullable LongUnaryOperator spread;
    private volatile @Nullable StoreListener listener;
    private volatile @Nullable StoreListener poolListener;
    private volatile @Nullable Subscriptions subscriptions;
    private volatile @Nullable RedissonReleases redisson;

    /**
     * Creates the messages of one client.
     *
     * @param confirmsGrants whether the receiver of a grant must ask again before using it, because replicas may lack
     *     it
     */
    public RedisMessages(RedisKeys keys, boolean confirmsGrants, TimeSource time) {
        this.keys = keys;
        this.clientChannels = keys.clientChannels();
        this.confirmsGrants = confirmsGrants;
        this.time = time;
    }

    /** Sets the subscriptions that the messages come from. To be called once, before a store uses this. */
    public void from(Subscriptions source) {
        redisson = new RedissonReleases(source, this::released);
        subscriptions = source;
    }

    public Subscriptions subscriptions() {
        return Objects.requireNonNull(subscriptions);
    }

    public RedissonReleases redisson() {
        return Objects.requireNonNull(redisson);
    }

    public void listen(StoreListener receiver) {
        listener = receiver;
    }

    /** Sets the receiver of messages about pools. Messages carry keys, and a pool's key is no lock's. */
    public void listenToPools(StoreListener receiver) {
        poolListener = receiver;
    }

    /**
     * Like {@link #listen}, and reports each release a little later, by chance. Every client that waits for the name
     * receives the message, and these clients should not all ask at the same instant.
     *
     * @param random returns a random number below its argument
     */
    public void listenSpread(StoreListener receiver, LongUnaryOperator random) {
        spread = random;
        listener = receiver;
    }

    /** Passes on nothing and sends nothing from now on. */
    public void stop() {
        listener = null;
        poolListener = null;
        subscriptions().stop();
    }

    /** Reports that a lost connection for commands is about to take commands again. */
    public void connecting() {
        StoreListener receiver = listener;
        if (receiver != null) {
            receiver.connecting();
        }
    }

    @Override
    public void missed() {
        for (StoreListener receiver : new StoreListener[] {listener, poolListener}) {
            if (receiver != null) {
                receiver.reconnected();
            }
        }
    }

    @Override
    public void message(String channel, String message, long sameClockSinceNanos) {
        if (!channel.startsWith(clientChannels)) {
            redisson().message(channel);
            return;
        }
        int space = message.indexOf(' ', 2);
        if (space < 0) {
            return;
        }
        if (message.startsWith("g ")) {
            PushedGrant grant = grant(message, sameClockSinceNanos);
            if (grant != null) {
                tell(
                        grant.name(),
                        (receiver, name) -> granted(receiver, name.equals(grant.name()) ? grant : grant.named(name)));
            }
            return;
        }
        String id = message.substring(2, space);
        String key = message.substring(space + 1);
        if (message.startsWith("c ")) {
            tell(key, (receiver, name) -> receiver.contended(name, id));
        } else if (message.startsWith("f ")) {
            tell(key, (receiver, name) -> receiver.forced(name, id));
        } else if (message.startsWith("r ")) {
            released(key);
        } else if (message.startsWith("y ")) {
            leftForRedisson(message, space + 1);
        }
    }

    private void granted(StoreListener receiver, PushedGrant grant) {
        if (confirmsGrants) {
            receiver.granted(grant.name(), grant.holderId());
        } else {
            redisson().unwatch(grant.name(), grant.holderId(), grant.nonce());
            receiver.granted(grant);
        }
    }

    /** Lets a waiter ask now, or after its share of the spread. */
    private void released(String key) {
        LongUnaryOperator random = spread;
        if (random == null) {
            tell(key, StoreListener::released);
        } else {
            time.schedule(random.applyAsLong(SPREAD_NANOS), () -> tell(key, StoreListener::released));
        }
    }

    /** Passes an event on to the receiver of messages about this key. */
    private void tell(String key, BiConsumer<StoreListener, String> event) {
        String pool = keys.poolOf(key);
        StoreListener receiver = pool == null ? listener : poolListener;
        if (receiver != null) {
            event.accept(receiver, pool == null ? key : pool);
        }
    }

    /** Lets the waiter ask when Redisson's turn is over: earlier it would take what was left for Redisson's clients. */
    private void leftForRedisson(String message, int at) {
        int space = message.indexOf(' ', at);
        if (space < 0) {
            return;
        }
        try {
            int millis = Integer.parseInt(message.substring(at, space));
            String name = message.substring(space + 1);
            time.schedule(Math.max(0, Math.min(millis, TURN_MAX_MILLIS)) * 1_000_000L, () -> released(name));
        } catch (NumberFormatException e) {
            // Not a message of ours: any program may publish any text.
        }
    }

    /** Returns the grant; null if the message is not one of ours: any program may publish any text. */
    private static @Nullable PushedGrant grant(String message, long sameClockSinceNanos) {
        // The name comes last, because it may contain spaces.
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
                    Long.parseLong(parts[5], NONCE_RADIX),
                    Long.parseLong(parts[6]),
                    sameClockSinceNanos);
        } catch (NumberFormatException e) {
            return null;
        }
    }
}
