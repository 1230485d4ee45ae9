package io.holdfast.redis.messages;

import java.util.concurrent.CompletionStage;

/**
 * Holds the subscriptions of one store and their connections. Both survive lost connections, failovers and moved slots.
 * Where this user may not subscribe, no message arrives, and waiting clients poll.
 */
public interface Subscriptions extends RedissonReleases.Channels {

    /** Receives the messages, on an I/O thread. */
    interface Receiver {

        /**
         * Receives a message.
         *
         * @param sameClockSinceNanos the time since which this message and all stamps for its channel come from one run
         *     of one server; see {@link io.holdfast.spi.PushedGrant}
         */
        void message(String channel, String message, long sameClockSinceNanos);

        /** Called when messages arrive again after some may have been lost. */
        void missed();
    }

    /** Returns whether grants of a name arrive now. */
    boolean ready(String name);

    /** Subscribes to the grants of a name. Completes when they arrive; fails if that is not possible now. */
    CompletionStage<Void> prepare(String name);

    /** Records that this client waits for a name. */
    void waiting(String name);

    /** Sends nothing from now on. */
    void stop();
}
