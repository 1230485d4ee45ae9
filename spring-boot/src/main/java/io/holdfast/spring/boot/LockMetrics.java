package io.holdfast.spring.boot;

import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToLongFunction;

/**
 * Meters of all locks of the client, whoever takes them. The tag {@code name} is the fixed part of the lock name; keys are never in a
 * tag.
 */
final class LockMetrics implements LockListener {

    private final MeterRegistry registry;
    private final LockNames names;
    private final java.util.function.Supplier<LockClient> client;
    private final Set<String> gauged = ConcurrentHashMap.newKeySet();

    LockMetrics(MeterRegistry registry, LockNames names, java.util.function.Supplier<LockClient> client) {
        this.registry = registry;
        this.names = names;
        this.client = client;
    }

    @Override
    public void acquired(String name, long fencingToken, Duration waited) {
        acquire(tagged(name), "acquired", waited);
    }

    @Override
    public void notAcquired(String name, Duration waited, Outcome how, String why) {
        acquire(tagged(name), how.name().toLowerCase(Locale.ROOT), waited);
    }

    @Override
    public void released(String name, long fencingToken, Duration held) {
        Timer.builder("holdfast.lock.held")
                .description("How long leases were held until their release")
                .tag("name", tagged(name))
                .register(registry)
                .record(held);
    }

    @Override
    public void lost(String name, long fencingToken, String why) {
        registry.counter("holdfast.lease.lost", "name", tagged(name)).increment();
    }

    @Override
    public void renewalFailed(String name, Throwable cause) {
        registry.counter("holdfast.renewal.failures", "name", tagged(name)).increment();
    }

    private void acquire(String tag, String outcome, Duration waited) {
        Timer.builder("holdfast.lock.acquire")
                .description("How long it took to acquire a lock, or to give up")
                .tag("name", tag)
                .tag("outcome", outcome)
                .register(registry)
                .record(waited);
    }

    private String tagged(String name) {
        String tag = names.tag(name);
        if (gauged.add(tag)) {
            gauge(
                    "holdfast.lock.active",
                    "Leases that are held here now",
                    tag,
                    lock -> lock.lease().isPresent() ? 1 : 0);
            gauge("holdfast.lock.waiting", "Threads and stages that wait here now", tag, LocalLock::waiting);
        }
        return tag;
    }

    private void gauge(String meter, String description, String tag, ToLongFunction<LocalLock> count) {
        Gauge.builder(meter, this, self -> self.count(tag, count))
                .description(description)
                .tag("name", tag)
                .register(registry);
    }

    private long count(String tag, ToLongFunction<LocalLock> count) {
        return client.get().localLocks().stream()
                .filter(lock -> names.tag(lock.name()).equals(tag))
                .mapToLong(count)
                .sum();
    }
}
