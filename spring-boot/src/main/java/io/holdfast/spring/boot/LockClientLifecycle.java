package io.holdfast.spring.boot;

import io.holdfast.LockClient;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.context.SmartLifecycle;

/**
 * Closes the client, which releases what is held, when the application stops: after the web server has drained its requests and after
 * message listeners and schedulers, whose phases are near the largest number, and before connection factories, whose phase is 0.
 */
final class LockClientLifecycle implements SmartLifecycle {

    static final int PHASE = 1024;

    private final LockClient client;
    private final AtomicBoolean running = new AtomicBoolean();

    LockClientLifecycle(LockClient client) {
        this.client = client;
    }

    @Override
    public void start() {
        running.set(true);
    }

    /** For good: a client that was closed cannot be opened again, and everything it is asked for then fails. */
    @Override
    public void stop() {
        if (running.compareAndSet(true, false)) {
            client.close();
        }
    }

    @Override
    public boolean isRunning() {
        return running.get();
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /** Of Spring Framework 7: contexts of tests are paused between uses; the locks of one stay as they are. */
    @SuppressWarnings("MissingOverride")
    public boolean isPauseable() {
        return false;
    }
}
