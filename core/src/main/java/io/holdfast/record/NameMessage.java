package io.holdfast.record;

import io.holdfast.spi.HolderId;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.StoreListener;

/** A message that a {@link NameDecision} asks for, to the client of a holder id. */
public sealed interface NameMessage {

    String name();

    String holderId();

    void deliver(StoreListener listener);

    /** Returns the id of the client that receives it. */
    default String client() {
        return HolderId.client(holderId());
    }

    /** The name was granted to an entry of the queue. */
    record Granted(PushedGrant grant) implements NameMessage {

        @Override
        public String name() {
            return grant.name();
        }

        @Override
        public String holderId() {
            return grant.holderId();
        }

        @Override
        public void deliver(StoreListener listener) {
            listener.granted(grant);
        }
    }

    /** Somebody has begun to wait behind a hold. */
    record Contended(String name, String holderId) implements NameMessage {

        @Override
        public void deliver(StoreListener listener) {
            listener.contended(name, holderId);
        }
    }

    /** The name is free but guarded, and this entry is the first one: it asks until the guard has ended. */
    record Freed(String name, String holderId) implements NameMessage {

        @Override
        public void deliver(StoreListener listener) {
            listener.released(name);
        }
    }

    /** A hold was ended by force. */
    record Forced(String name, String holderId) implements NameMessage {

        @Override
        public void deliver(StoreListener listener) {
            listener.forced(name, holderId);
        }
    }
}
