package io.holdfast.redis.messages;

import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.TimeSource;
import java.util.Objects;
import java.util.function.Consumer;
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

    private final String clientChannels;
    private final boolean confirmsGrants;
    private final TimeSource time;
    private volatile @Nullable LongUnaryOperator spread;
    private volatile @Nullable StoreListener listener;
    private volatile @Nullable Subscriptions subscriptions;
    private volatile @Nullable RedissonReleases redisson;

    /**
     * Creates the messages of one client.
     *
     * @param clientChannels the beginning of the names of all channels that are not Redisson's
     * @param confirmsGrants whether the receiver of a grant must ask again before using it, because replicas may lack
     *     it
     */
    public RedisMessages(String clientChannels, boolean confirmsGrants, TimeSource time) {
        this.clientChannels = clientChannels;
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

    /**
     * Like {@link #listen}, and reports each release a little later, by chance: every client that waits for the name
     * receives it, and these clients should not all ask at the same instant.
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
        subscriptions().stop();
    }

    /** Reports that a lost connection for commands is about to take commands again. */
    public void connecting() {
        tell(StoreListener::connecting);
    }

    @Override
    public void missed() {
        tell(StoreListener::reconnected);
    }

    @Override
    public void message(String channel, String message, long sameClockSinceNanos) {
        if (!channel.startsWith(clientChannels)) {
            redisson().message(channel);
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
            if (confirmsGrants) {
                receiver.granted(grant.name(), grant.holderId());
            } else {
                redisson().unwatch(grant.name(), grant.holderId(), grant.nonce());
                receiver.granted(grant);
            }
        } else if (message.startsWith("c ")) {
            receiver.contended(message.substring(space + 1), message.substring(2, space));
        } else if (message.startsWith("f ")) {
            receiver.forced(message.substring(space + 1), message.substring(2, space));
        } else if (message.startsWith("r ")) {
            released(message.substring(space + 1));
        } else if (message.startsWith("y ")) {
            leftForRedisson(message, space + 1);
        }
    }

    /** Lets a waiter ask now, or after its share of the spread. */
    private void released(String name) {
        LongUnaryOperator random = spread;
        if (random == null) {
            tell(receiver -> receiver.released(name));
        } else {
            time.schedule(random.applyAsLong(SPREAD_NANOS), () -> tell(receiver -> receiver.released(name)));
        }
    }

    private void tell(Consumer<StoreListener> event) {
        StoreListener receiver = listener;
        if (receiver != null) {
            event.accept(receiver);
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
