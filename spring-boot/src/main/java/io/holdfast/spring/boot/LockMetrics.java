package io.holdfast.spring.boot;

import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.spring.declaration.LockedNames;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * Meters of all locks of the client. The tag {@code name} is the constant part of the lock name; it never contains a
 * key.
 */
final class LockMetrics implements LockListener {

    private final MeterRegistry registry;
    private final LockedNames names;
    private final Supplier<LockClient> client;
    private final Set<String> gauged = ConcurrentHashMap.newKeySet();

    LockMetrics(MeterRegistry registry, LockedNames names, Supplier<LockClient> client) {
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
                .description("Time from the grant of a lease to its release")
                .tag("name", tagged(name))
                .register(registry)
                .record(held);
    }

    @Override
    public void lost(String name, long fencingToken, Duration held, String why) {
        registry.counter("holdfast.lease.lost", "name", tagged(name)).increment();
    }

    @Override
    public void renewalFailed(String name, Throwable cause) {
        registry.counter("holdfast.renewal.failures", "name", tagged(name)).increment();
    }

    private void acquire(String tag, String outcome, Duration waited) {
        Timer.builder("holdfast.lock.acquire")
                .description("Time that an acquisition took until its outcome")
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
                    "Leases that this instance holds",
                    tag,
                    lock -> lock.lease().isPresent() ? 1 : 0);
            gauge(
                    "holdfast.lock.waiting",
                    "Threads and stages of this instance that wait for a lock",
                    tag,
                    LocalLock::waiting);
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
