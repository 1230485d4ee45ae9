package io.holdfast.redis.connect;

import java.util.concurrent.CompletionStage;

/**
 * Where the messages for this client come from: the pub/sub connections of one store, and the channels on them. The
 * subscriptions are kept through lost connections, failovers and moved slots. Where the servers do not let this user
 * subscribe, nothing arrives, and those who wait poll.
 */
public interface Subscriptions extends RedissonReleases.Channels {

    /** What arrives. Runs on an I/O thread. */
    interface Receiver {

        /**
         * A message.
         *
         * @param sameClockSinceNanos since when all that was stamped for this channel, and this message, come from one
         *     run of one server; see {@link io.holdfast.spi.PushedGrant}
         */
        void message(String channel, String message, long sameClockSinceNanos);

        /** Messages may have been lost; from now on they arrive again. */
        void missed();
    }

    /** What the channel begins with on which grants of a name are sent; the client's id follows. */
    String grantChannels(String name);

    /** Whether grants of a name would be heard now. */
    boolean ready(String name);

    /** Takes care that grants of a name are heard. Completes when they are, fails if they cannot be now. */
    CompletionStage<Void> prepare(String name);

    /** Takes note that somebody waits for a name. */
    void waiting(String name);

    /** A sign of life on each connection, and a repair of what is not as it should be. */
    void beat();

    /** Sends nothing from now on. */
    void stop();
}
