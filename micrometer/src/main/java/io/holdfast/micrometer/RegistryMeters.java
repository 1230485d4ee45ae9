package io.holdfast.micrometer;

import io.holdfast.Leadership;
import io.holdfast.LocalLock;
import io.holdfast.OnceOutcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Comparator;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * The meters in one registry. Each name of a meter has the same tag keys everywhere, as some registries refuse others.
 */
final class RegistryMeters {

    private final MeterRegistry registry;
    private final HoldfastMetrics metrics;

    /** The tags that have their gauges and counters. */
    private final Set<LockTags> begun = ConcurrentHashMap.newKeySet();

    /** The leaderships that have their meters. */
    private final Set<String> candidates = ConcurrentHashMap.newKeySet();

    RegistryMeters(MeterRegistry registry, HoldfastMetrics metrics) {
        this.registry = registry;
        this.metrics = metrics;
        time(
                "holdfast.lock.oldest.wait",
                "How long the caller has waited that waits longest for a lock",
                all -> all.locks()
                        .filter(lock -> !lock.name().startsWith(Leadership.LOCK_PREFIX))
                        .map(LocalLock::longestWait)
                        .max(Comparator.naturalOrder())
                        .orElse(Duration.ZERO));
        time(
                "holdfast.renewal.lag",
                "Delay of the most overdue renewal; near two thirds of a lease, leases are lost",
                HoldfastMetrics::renewalLag);
        reconnects();
        clockJumps();
        metrics.leaderships().forEach(this::candidate);
    }

    private void time(String meter, String help, Function<HoldfastMetrics, Duration> value) {
        TimeGauge.builder(
                        meter,
                        metrics,
                        TimeUnit.NANOSECONDS,
                        all -> value.apply(all).toNanos())
                .description(help)
                .register(registry);
    }

    void acquire(LockTags tags, String outcome, Duration waited) {
        begin(tags);
        Timer.builder("holdfast.lock.acquire")
                .description("Time that an acquisition took until its outcome")
                .tags(tags)
                .tag("outcome", outcome)
                .register(registry)
                .record(waited);
    }

    void handedOn(LockTags tags) {
        counter("holdfast.lock.handoffs", "Leases handed on inside this process, without the store", "leases")
                .tags(tags)
                .register(registry)
                .increment();
    }

    void held(LockTags tags, Duration held) {
        Timer.builder("holdfast.lock.held")
                .description("Time from the grant of a lease to its release or loss")
                .tags(tags)
                .register(registry)
                .record(held);
    }

    void lost(LockTags tags, Duration held) {
        held(tags, held);
        losses(tags).increment();
    }

    private Counter losses(LockTags tags) {
        return counter("holdfast.lease.lost", "Leases that ended before their release", "leases")
                .tags(tags)
                .register(registry);
    }

    void renewalFailed(LockTags tags) {
        renewalFailures(tags).increment();
    }

    private Counter renewalFailures(LockTags tags) {
        return counter("holdfast.renewal.failures", "Renewals of a lock that failed and are tried again", "renewals")
                .tags(tags)
                .register(registry);
    }

    void renewed(Duration took) {
        Timer.builder("holdfast.renewal")
                .description("Time from the sending of renewals to the last answer, for those sent together")
                .register(registry)
                .record(took);
    }

    void storeFailed(String command, String outcome) {
        counter("holdfast.store.errors", "Commands that the store failed to execute", "commands")
                .tag("command", command)
                .tag("outcome", outcome)
                .register(registry)
                .increment();
    }

    void reconnected() {
        reconnects().increment();
    }

    private Counter reconnects() {
        return counter(
                        "holdfast.store.reconnects",
                        "Connections to the store that were lost and are back",
                        "connections")
                .register(registry);
    }

    void clockJumped() {
        clockJumps().increment();
    }

    private Counter clockJumps() {
        return counter("holdfast.clock.jumps", "Forward jumps of the wall clock, as after a suspension", "jumps")
                .register(registry);
    }

    /** Begins the meters of a leadership: an increase from nothing to 1 is none for most alerts. */
    void candidate(String leadership) {
        if (candidates.add(leadership)) {
            Gauge.builder("holdfast.leader", metrics, all -> all.leads(leadership) ? 1 : 0)
                    .description("1 while this process leads, otherwise 0")
                    .baseUnit("leader")
                    .tag("name", leadership)
                    .register(registry);
            terms(leadership);
            overdue(leadership);
        }
    }

    Counter terms(String leadership) {
        return counter("holdfast.leader.terms", "Terms of this process: how often it was elected", "terms")
                .tag("name", leadership)
                .register(registry);
    }

    Counter overdue(String leadership) {
        return counter(
                        "holdfast.leader.overdue",
                        "Terms whose work had not stopped when the lock was released",
                        "terms")
                .tag("name", leadership)
                .register(registry);
    }

    void once(String name, OnceOutcome outcome) {
        // All outcomes of a name begin at zero, so that an alert sees the first conflict.
        for (OnceOutcome each : OnceOutcome.values()) {
            Counter counter = counter("holdfast.once", "Calls whose work is done once for each key", "calls")
                    .tag("name", name)
                    .tag("outcome", lowerCase(each))
                    .register(registry);
            if (each == outcome) {
                counter.increment();
            }
        }
    }

    private static Counter.Builder counter(String meter, String help, String unit) {
        return Counter.builder(meter).description(help).baseUnit(unit);
    }

    /**
     * Begins the gauges of a name, and its counters at zero: the first loss would be an increase from nothing, which
     * {@code increase()} of Prometheus does not see.
     */
    private void begin(LockTags tags) {
        if (begun.add(tags)) {
            losses(tags);
            renewalFailures(tags);
            gauge(
                    "holdfast.lock.active",
                    "Leases that this process holds",
                    "leases",
                    tags,
                    lock -> lock.lease().isPresent() ? 1 : 0);
            gauge(
                    "holdfast.lock.waiting",
                    "Threads and stages that wait for a lock",
                    "callers",
                    tags,
                    LocalLock::waiting);
        }
    }

    private void gauge(String meter, String help, String unit, LockTags tags, Function<LocalLock, Integer> count) {
        Gauge.builder(
                        meter,
                        metrics,
                        all -> all.locks(tags).mapToInt(count::apply).sum())
                .description(help)
                .baseUnit(unit)
                .tags(tags)
                .register(registry);
    }

    static String lowerCase(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
