package io.holdfast.spring.boot;

import io.holdfast.LockClient;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.context.SmartLifecycle;

/**
 * Closes the clients, which releases what is held, when the application stops: after the web server has drained its requests and after
 * message listeners and schedulers, whose phases are near the largest number, and before connection factories, whose phase is 0.
 */
final class LockClientLifecycle implements SmartLifecycle {

    static final int PHASE = 1024;

    private final List<LockClient> clients;
    private final AtomicBoolean running = new AtomicBoolean();

    LockClientLifecycle(Collection<LockClient> clients) {
        this.clients = List.copyOf(clients);
    }

    /** Opens the clients that {@link #stop} closed: around a checkpoint and a restore (CRaC) Spring calls the two. */
    @Override
    public void start() {
        clients.forEach(LockClient::reopen);
        running.set(true);
    }

    /** Closes the clients. What they are asked for fails until they are started again. */
    @Override
    public void stop() {
        if (running.compareAndSet(true, false)) {
            clients.forEach(LockClient::close);
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
