package io.holdfast.console;

import io.holdfast.ClientCard;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.LockClient;
import io.holdfast.LockState;
import io.holdfast.LockStoreException;
import io.holdfast.PermitsState;
import io.holdfast.ReadWriteState;
import io.holdfast.spi.Names;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Looks at all locks of a store, again and again. Give its client {@link io.holdfast.CardDetail#OFF}, so that it is not
 * part of the picture. Not thread-safe.
 *
 * <pre>{@code
 * LockClient reader = LockClient.builder().uri("redis://127.0.0.1:6379").cards(CardDetail.OFF).build();
 * LockWatch watch = new LockWatch(reader);
 * for (LockRow lock : watch.look().locks()) {
 *     System.out.println(Names.printable(lock.name()) + ": " + lock.waiters() + " callers wait");
 * }
 * }</pre>
 *
 * <p>A look costs a command for each client's card, and one or two for each lock of which the cards do not say enough,
 * at most a hundred of them; the same for permits and read-write locks. It does not cost the holders and waiters anything.
 */
public final class LockWatch {

    private static final System.Logger LOG = System.getLogger("io.holdfast.console");

    private static final Duration PERIOD_MIN = Duration.ofSeconds(5);

    /** The share of a client in a hundred cards a second. */
    private static final Duration EACH = Duration.ofMillis(10);

    private static final int ASKED_MAX = 100;

    private final LockClient client;
    private final TimeSource time;
    private final Duration periodMin;

    /** Cycles of earlier looks that every look since has seen, by their keys: when each client was heard of then. */
    private final Map<List<String>, Sighting> sightings = new HashMap<>();

    /** The cycles that were reported to the log and have been there since. */
    private final Set<List<String>> reported = new HashSet<>();

    private record Sighting(long atNanos, Map<String, Long> heardAtNanos) {}

    /** Watches the store of this client, which the caller closes. */
    public LockWatch(LockClient client) {
        this(client, TimeSource.system(), PERIOD_MIN);
    }

    /** For tests with clients that write their cards more often. */
    LockWatch(LockClient client, TimeSource time, Duration periodMin) {
        this.client = client;
        this.time = time;
        this.periodMin = periodMin;
    }

    /**
     * Looks at all locks.
     *
     * @throws LockStoreException if the store failed
     */
    public LockPicture look() {
        return look(List.of());
    }

    /**
     * Looks at all locks, and asks the store about these in any case.
     *
     * @throws LockStoreException if the store failed
     */
    public LockPicture look(Collection<String> names) {
        List<ClientCard> cards = client.cards();
        long now = time.nanoTime();
        Duration each = EACH.multipliedBy(cards.size());
        Duration period = each.compareTo(periodMin) > 0 ? each : periodMin;
        PictureBuilder builder = new PictureBuilder(cards, period);
        Set<String> asked = new LinkedHashSet<>(names);
        builder.unclear().stream().limit(ASKED_MAX).forEach(asked::add);
        Map<String, LockState> states = new HashMap<>();
        asked.stream().filter(name -> !builder.isPool(name)).forEach(name -> states.put(name, client.inspect(name)));
        Map<String, PermitsState> permits = new HashMap<>();
        // A client of the store may have permits where this one has none, for example by another mode of Redis.
        if (!builder.unclearPermits().isEmpty() && client.hasPermits()) {
            builder.unclearPermits().stream()
                    .limit(ASKED_MAX)
                    .forEach(name -> permits.put(name, client.permits(name, 1).inspect()));
        }
        Map<String, ReadWriteState> readWrite = new HashMap<>();
        if (!builder.unclearReadWrite().isEmpty() && client.hasPermits()) {
            builder.unclearReadWrite().stream().limit(ASKED_MAX).forEach(name -> inspectReadWrite(name, readWrite));
        }

        CycleFinder finder = new CycleFinder(cards.stream()
                .filter(card -> !LockPicture.isSilent(card, period))
                .toList());
        finder.find();
        List<Cycle> found = finder.deadlocks();
        List<Cycle> confirmed = confirm(
                found,
                now,
                step -> builder.isReadWrite(step.holds()) ? hasShare(step, readWrite) : isHolder(step, states));
        List<LockRow> rows = builder.rows(states, permits, readWrite, names, confirmed);
        return new LockPicture(
                rows.stream().sorted(LockRow.BY_URGENCY).toList(),
                cards,
                confirmed,
                found.stream().filter(cycle -> !confirmed.contains(cycle)).toList(),
                finder.possible().stream().filter(Cycle::stoodAtOnce).toList(),
                period,
                cards.stream()
                        .mapToInt(card -> Math.max(
                                        0, card.heldCount() - card.held().size())
                                + Math.max(
                                        0, card.waitingCount() - card.waiting().size()))
                        .sum());
    }

    /**
     * Returns the cycles that stood in an earlier look, whose clients have all been heard of since, and whose holders
     * are those that the store names now. Cards are of different moments, so one look proves nothing.
     */
    private List<Cycle> confirm(List<Cycle> found, long now, Predicate<Cycle.Step> isHeldNow) {
        Set<List<String>> keys = found.stream().map(Cycle::key).collect(Collectors.toSet());
        sightings.keySet().retainAll(keys);
        reported.retainAll(keys);
        List<Cycle> confirmed = new ArrayList<>();
        for (Cycle cycle : found) {
            Sighting first = sightings.get(cycle.key());
            if (first == null || !isSameWait(cycle, now - first.atNanos())) {
                sightings.put(cycle.key(), sighting(cycle, now));
            } else if (isHeardSince(cycle, first, now) && cycle.steps().stream().allMatch(isHeldNow)) {
                confirmed.add(cycle);
                if (reported.add(cycle.key())) {
                    report(cycle);
                }
            }
        }
        return confirmed;
    }

    private static Sighting sighting(Cycle cycle, long now) {
        return new Sighting(
                now,
                cycle.steps().stream()
                        .collect(Collectors.toMap(
                                step -> step.client().id(),
                                step -> now - step.client().heard().toNanos(),
                                (one, same) -> one)));
    }

    /** Returns whether each wait began before the first look, and so is the same wait. */
    private static boolean isSameWait(Cycle cycle, long sinceNanos) {
        return cycle.steps().stream().allMatch(step -> step.waited().toNanos() >= sinceNanos);
    }

    private boolean isHeardSince(Cycle cycle, Sighting first, long now) {
        // A client's next word comes a period later; half of one is more than two readings of one word may differ.
        long leastNanos = periodMin.toNanos() / 2;
        return cycle.steps().stream()
                .allMatch(step -> now
                                - step.client().heard().toNanos()
                                - first.heardAtNanos()
                                        .getOrDefault(step.client().id(), now)
                        >= leastNanos);
    }

    private boolean isHolder(Cycle.Step step, Map<String, LockState> states) {
        LockState state = client.inspect(step.holds());
        states.put(step.holds(), state);
        return state.holder().filter(step.holderId()::equals).isPresent();
    }

    /** Returns whether the client still has its hold on a read-write lock. */
    private boolean hasShare(Cycle.Step step, Map<String, ReadWriteState> states) {
        String name = step.holds().substring(DistributedReadWriteLock.SHOWN_PREFIX.length());
        return client.hasPermits()
                && inspectReadWrite(name, states).hold(step.holderId()).isPresent();
    }

    private ReadWriteState inspectReadWrite(String name, Map<String, ReadWriteState> states) {
        ReadWriteState state = client.getReadWriteLock(name).inspect();
        states.put(name, state);
        return state;
    }

    private static void report(Cycle cycle) {
        LOG.log(
                System.Logger.Level.WARNING,
                "Deadlock: "
                        + cycle.steps().stream()
                                .map(step -> step.client().title() + " holds " + Names.printable(step.holds())
                                        + " and waits for " + Names.printable(step.waitsFor()))
                                .collect(Collectors.joining("; "))
                        + " (release one of these locks by force, or end one of the clients)");
    }
}
