package io.holdfast.redis.connect;

import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.TimeSource;
import java.util.function.LongUnaryOperator;

/**
 * Tells of releases a little later, by chance: every client that waits for the name hears of it, and they should not all
 * ask in the same instant.
 */
public final class SpreadListener implements StoreListener {

    private static final long SPREAD_NANOS = 2_000_000;

    private final StoreListener listener;
    private final TimeSource time;
    private final LongUnaryOperator random;

    /** @param random a number below the one it is given, by chance */
    public SpreadListener(StoreListener listener, TimeSource time, LongUnaryOperator random) {
        this.listener = listener;
        this.time = time;
        this.random = random;
    }

    @Override
    public void granted(String name, String holderId) {
        listener.granted(name, holderId);
    }

    @Override
    public void granted(PushedGrant grant) {
        listener.granted(grant);
    }

    @Override
    public void lost(String name, String holderId) {
        listener.lost(name, holderId);
    }

    @Override
    public void contended(String name, String holderId) {
        listener.contended(name, holderId);
    }

    @Override
    public void released(String name) {
        var unused = time.schedule(random.applyAsLong(SPREAD_NANOS), () -> listener.released(name));
    }

    @Override
    public void connecting() {
        listener.connecting();
    }

    @Override
    public void reconnected() {
        listener.reconnected();
    }
}
