package io.holdfast.spring.boot;

import io.holdfast.LockClient;
import io.holdfast.jdbc.OncePurge;
import io.holdfast.spi.DurationText;
import io.holdfast.spring.call.OnceCalls;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;

/** Purges keys while the context runs, in an application that has methods for which there are keys. */
final class OncePurgeLifecycle implements SmartLifecycle {

    private static final Duration SHORTEST = Duration.ofSeconds(1);

    private final OnceCalls calls;
    private final ObjectProvider<LockClient> client;
    private final Duration every;

    private final ReentrantLock state = new ReentrantLock();
    private @Nullable OncePurge purge;
    private volatile boolean isStarted;

    /** @param every zero for never */
    OncePurgeLifecycle(OnceCalls calls, ObjectProvider<LockClient> client, Duration every) {
        if (every.isNegative() || (!every.isZero() && every.compareTo(SHORTEST) < 0)) {
            throw new LockSettingsException(
                    new IllegalArgumentException("holdfast.idempotent.purge-every: " + DurationText.of(every)
                            + " (expected: at least " + DurationText.of(SHORTEST) + ", or 0 for never)"));
        }
        this.calls = calls;
        this.client = client;
        this.every = every;
    }

    @Override
    public void start() {
        isStarted = true;
        if (!every.isZero()) {
            calls.whenUsed(this::begin);
        }
    }

    /** A lazy bean comes with its first call. */
    private void begin() {
        state.lock();
        try {
            if (isStarted && purge == null) {
                purge = OncePurge.start(every, client.getIfUnique(), calls::purge);
            }
        } finally {
            state.unlock();
        }
    }

    @Override
    public void stop() {
        OncePurge ending;
        state.lock();
        try {
            isStarted = false;
            ending = purge;
            purge = null;
        } finally {
            state.unlock();
        }
        if (ending != null) {
            ending.close();
        }
    }

    @Override
    public boolean isRunning() {
        return isStarted;
    }

    /** Stops before the clients close. */
    @Override
    public int getPhase() {
        return LockClientLifecycle.PHASE + 1;
    }
}
