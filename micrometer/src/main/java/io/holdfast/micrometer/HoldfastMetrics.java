package io.holdfast.micrometer;

import static java.util.Objects.requireNonNull;

import io.holdfast.Leadership;
import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.OnceOutcome;
import io.holdfast.spi.StoreException;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Meters of the locks of one or more clients, {@code holdfast.*}; {@code docs/metrics.md} has their table.
 *
 * <pre>{@code
 * HoldfastMetrics metrics = new HoldfastMetrics(HoldfastMetrics.prefixes(List.of("order:refund", "job")));
 * LockClient locks = LockClient.builder().uri(uri).listener(metrics).build();
 * metrics.watch(locks).bindTo(registry);
 * }</pre>
 *
 * <p>The timers and counters need it as the client's listener, the gauges need {@link #watch}. Events from before
 * {@link #bindTo} are not counted. Several clients may share one instance; then their meters are added up. Thread-safe.
 */
public final class HoldfastMetrics implements MeterBinder, LockListener {

    /** The tag of locks that {@link #prefixes} does not know. */
    public static final String OTHER = "other";

    private final UnaryOperator<String> tag;

    /** Invariant: each registry is in here once, so that no event is counted twice. */
    private final ConcurrentMap<MeterRegistry, RegistryMeters> bound = new ConcurrentHashMap<>();

    private final CopyOnWriteArrayList<LockClient> clients = new CopyOnWriteArrayList<>();

    /** Makes meters in which all locks share the tag {@code name=other}. */
    public HoldfastMetrics() {
        this(name -> OTHER);
    }

    /**
     * Makes meters with a tag {@code name} that this function makes from a lock name.
     *
     * @param tag returns one of few values: each value is a set of meters for as long as the registry lives. So it
     *     leaves out what differs from call to call, such as an order's number; see {@link #prefixes}
     */
    public HoldfastMetrics(UnaryOperator<String> tag) {
        this.tag = requireNonNull(tag, "tag");
    }

    /**
     * Returns a tag function that knows the constant parts of lock names. It returns the longest part that the lock
     * name equals, or begins with and a colon follows; otherwise {@link #OTHER}.
     *
     * @param parts for example {@code order:refund} for the locks {@code order:refund:12345}; parts may be added later
     *     if the collection is thread-safe
     */
    public static UnaryOperator<String> prefixes(Collection<String> parts) {
        requireNonNull(parts, "parts");
        return name -> {
            for (int end = name.length(); end > 0; end = name.lastIndexOf(':', end - 1)) {
                String part = name.substring(0, end);
                if (parts.contains(part)) {
                    return part;
                }
            }
            return OTHER;
        };
    }

    /**
     * Adds a client to the gauges. Does nothing if it was added before. A client that is closed counts as one without
     * locks.
     *
     * @return this
     */
    public HoldfastMetrics watch(LockClient client) {
        if (clients.addIfAbsent(requireNonNull(client, "client"))) {
            client.leaderships().forEach(leadership -> candidacyBegan(leadership.name()));
        }
        return this;
    }

    /** Adds the meters to a registry, from now on. Does nothing if they were added before. */
    @Override
    public void bindTo(MeterRegistry registry) {
        bound.computeIfAbsent(requireNonNull(registry, "registry"), added -> new RegistryMeters(added, this));
    }

    /**
     * Counts a call whose work is done once for each key. {@code @Idempotent} calls it, in Spring and Jakarta CDI; a
     * program with {@code JdbcOnce} does so itself, after its commit.
     *
     * @param key as for a lock name, for example {@code payment:17}: the tag has its constant part alone
     */
    public void once(String key, OnceOutcome outcome) {
        requireNonNull(outcome, "outcome");
        String name = tag.apply(requireNonNull(key, "key"));
        each(meters -> meters.once(name, outcome));
    }

    // --- for the gauges ---

    /** Returns what the clients hold and wait for. */
    Stream<LocalLock> locks() {
        return clients.stream().flatMap(client -> client.localLocks().stream());
    }

    /** Returns what the clients hold and wait for under these tags. */
    Stream<LocalLock> locks(LockTags wanted) {
        return locks().filter(lock -> tags(lock.name()).equals(wanted));
    }

    private LockTags tags(String name) {
        return LockTags.of(name, tag);
    }

    /** Returns whether one of the clients leads. */
    boolean leads(String leadership) {
        return clients.stream()
                .flatMap(client -> client.leaderships().stream())
                .anyMatch(candidate -> candidate.name().equals(leadership) && candidate.isLeader());
    }

    /** Returns the leaderships for which the clients campaign. */
    Stream<String> leaderships() {
        return clients.stream().flatMap(client -> client.leaderships().stream()).map(Leadership::name);
    }

    Duration renewalLag() {
        return clients.stream()
                .map(LockClient::renewalLag)
                .max(Duration::compareTo)
                .orElse(Duration.ZERO);
    }

    // --- events ---

    private void each(Consumer<RegistryMeters> event) {
        bound.values().forEach(event);
    }

    @Override
    public void acquired(String name, long fencingToken, Duration waited) {
        each(meters -> meters.acquire(tags(name), "acquired", waited));
    }

    @Override
    public void notAcquired(String name, Duration waited, Outcome how, String why) {
        each(meters -> meters.acquire(tags(name), RegistryMeters.lowerCase(how), waited));
    }

    @Override
    public void handedOn(String name, long fencingToken) {
        each(meters -> meters.handedOn(tags(name)));
    }

    @Override
    public void released(String name, long fencingToken, Duration held) {
        each(meters -> meters.held(tags(name), held));
    }

    @Override
    public void lost(String name, long fencingToken, Duration held, String why) {
        each(meters -> meters.lost(tags(name), held));
    }

    @Override
    public void renewalFailed(String name, Throwable cause) {
        each(meters -> meters.renewalFailed(tags(name)));
    }

    @Override
    public void renewed(int locks, int failed, Duration took) {
        each(meters -> meters.renewed(took));
    }

    @Override
    public void storeFailed(String name, String command, StoreException cause) {
        each(meters -> meters.storeFailed(command, RegistryMeters.lowerCase(cause.outcome())));
    }

    @Override
    public void reconnected() {
        each(RegistryMeters::reconnected);
    }

    @Override
    public void clockJumped(Duration by) {
        each(RegistryMeters::clockJumped);
    }

    @Override
    public void candidacyBegan(String leadership) {
        each(meters -> meters.candidate(leadership));
    }

    @Override
    public void elected(String leadership, long fencingToken) {
        each(meters -> {
            meters.candidate(leadership);
            meters.terms(leadership).increment();
        });
    }

    @Override
    public void termEnded(String leadership, long fencingToken, Duration led, boolean stoppedInTime) {
        if (!stoppedInTime) {
            each(meters -> meters.overdue(leadership).increment());
        }
    }
}
