package io.holdfast.verify.redis;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreState;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One name as a Redis server with our scripts keeps it. Time is the server's, in nanoseconds, and is given with each
 * command.
 */
interface NameModel {

    /** Sends a message to the client of a holder id. False: nobody heard it. */
    interface Messenger {
        /** Whether a message would be heard. */
        default boolean hears(String holderId) {
            return true;
        }

        boolean granted(PushedGrant grant);

        void contended(String holderId);

        void forced(String holderId);
    }

    NameModel copy();

    /** The bases of the holds whose time has not run out, by holder id. */
    Map<String, Long> holds(long now);

    /** The ids that wait, in their order. */
    List<String> waiting();

    boolean isFree(long now);

    /** Null: executed later than it may, nothing done. */
    @Nullable
    AcquireReply acquire(AcquireRequest request, long notAfter, long now, Messenger messages);

    RenewReply renew(RenewRequest request, long now);

    ReleaseReply release(ReleaseRequest request, long notAfter, long now, Messenger messages);

    boolean abandon(String holderId, long now, Messenger messages);

    ForceReply forceRelease(@Nullable String expected, long now, Messenger messages);

    StoreState inspect(long now);
}
