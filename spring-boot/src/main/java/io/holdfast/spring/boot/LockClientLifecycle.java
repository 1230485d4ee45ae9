package io.holdfast.spring.boot;

import io.holdfast.LockClient;
import io.holdfast.spring.startup.LateClose;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Logs the start, and closes the clients when the context is stopped without being closed: after the web server has
 * drained its requests and after message listeners and schedulers, whose phases are near the largest number, but before
 * connection factories, whose phase is 0. When the context is closed, {@link LateClose} closes them at the end.
 */
final class LockClientLifecycle implements SmartLifecycle {

    static final int PHASE = 1024;

    private static final System.Logger LOG = System.getLogger(LockClientLifecycle.class.getName());

    private final ConfigurableApplicationContext context;
    private final List<LockClient> clients;
    private final Supplier<String> settings;
    private final AtomicBoolean running = new AtomicBoolean();

    /** @param settings what the log says about locks besides their stores */
    LockClientLifecycle(
            ConfigurableApplicationContext context, Collection<LockClient> clients, Supplier<String> settings) {
        this.context = context;
        this.clients = List.copyOf(clients);
        this.settings = settings;
        SpringLog.install();
    }

    /** Opens the clients that {@link #stop} has closed. Spring calls the two around a checkpoint and restore (CRaC). */
    @Override
    public void start() {
        clients.forEach(LockClient::reopen);
        running.set(true);
        LOG.log(
                System.Logger.Level.INFO,
                "Locks: {0}, store {1}",
                settings.get(),
                clients.stream().map(LockClientLifecycle::store).collect(Collectors.joining(", ")));
    }

    private static String store(LockClient client) {
        String store = client.describeStore();
        return store.startsWith("a store that") ? "not opened yet" : store;
    }

    /** Closes the clients, unless the context is being closed. Their methods fail until the next start. */
    @Override
    public void stop() {
        if (running.compareAndSet(true, false) && !context.isClosed()) {
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
