package io.holdfast.spring.boot;

import io.holdfast.LockClient;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.context.SmartLifecycle;

/**
 * Closes the clients, which releases their leases, when the application stops: after the web server has drained its
 * requests and after message listeners and schedulers, whose phases are near the largest number, but before connection
 * factories, whose phase is 0.
 */
final class LockClientLifecycle implements SmartLifecycle {

    static final int PHASE = 1024;

    private final List<LockClient> clients;
    private final AtomicBoolean running = new AtomicBoolean();

    LockClientLifecycle(Collection<LockClient> clients) {
        this.clients = List.copyOf(clients);
    }

    /** Opens the clients that {@link #stop} has closed. Spring calls the two around a checkpoint and restore (CRaC). */
    @Override
    public void start() {
        clients.forEach(LockClient::reopen);
        running.set(true);
    }

    /** Closes the clients. Their methods fail until the next start. */
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

    /** For Spring Framework 7, which pauses contexts of tests between uses: their locks stay as they are. */
    @SuppressWarnings("MissingOverride")
    public boolean isPauseable() {
        return false;
    }
}
