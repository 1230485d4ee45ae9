package io.holdfast.sql;

import io.holdfast.record.NameMessage;
import io.holdfast.spi.StoreListener;
import org.jspecify.annotations.Nullable;

/** The listeners of a store and of its view of pools. Before they are there, messages are dropped: they are hints. */
final class Receivers {

    volatile @Nullable StoreListener locks;
    volatile @Nullable StoreListener pools;

    private final Holds holds;

    Receivers(Holds holds) {
        this.holds = holds;
    }

    /** Delivers a message that was sent. Nobody looks at rows then, so what they count is not needed. */
    void deliver(boolean pool, NameMessage message) {
        deliver(pool, message, 0);
    }

    /** @param contended the {@link Row#contended} that the receiver of a grant need not hear of */
    void deliver(boolean pool, NameMessage message, long contended) {
        if (message instanceof NameMessage.Granted granted) {
            String name = message.name();
            String key = pool ? LockKey.ofPool(name) : LockKey.of(name);
            holds.putIfWaiting(new Holds.Held(
                    name, key, message.holderId(), pool, granted.grant().base(), contended));
        }
        StoreListener receiver = pool ? pools : locks;
        if (receiver != null) {
            message.deliver(receiver);
        }
    }

    void connecting() {
        StoreListener receiver = locks;
        if (receiver != null) {
            receiver.connecting();
        }
    }

    void reconnected() {
        for (@Nullable StoreListener receiver : new @Nullable StoreListener[] {locks, pools}) {
            if (receiver != null) {
                receiver.reconnected();
            }
        }
    }
}
