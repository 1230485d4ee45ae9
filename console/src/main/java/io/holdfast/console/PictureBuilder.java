package io.holdfast.console;

import io.holdfast.ClientCard;
import io.holdfast.ClientCard.HeldLock;
import io.holdfast.ClientCard.PermitsUse;
import io.holdfast.ClientCard.ReadWriteUse;
import io.holdfast.ClientCard.WaitedLock;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.LockState;
import io.holdfast.Permits;
import io.holdfast.PermitsState;
import io.holdfast.ReadWriteState;
import io.holdfast.spi.HolderId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Puts the cards of all clients together, lock by lock. Does no I/O: {@link #unclear} names the locks of which the
 * cards do not say enough, and {@link #rows} takes the store's answers on them. For one use.
 */
final class PictureBuilder {

    /** A hold, as a card has it. */
    private record Hold(ClientCard client, HeldLock lock) {}

    /** How many names have a row only because they were used of late, each at least this often a second. */
    private static final int BUSIEST_MAX = 50;

    private static final double BUSY_PER_SECOND = 1;

    private final Duration period;
    private final Map<String, ClientCard> clients = new HashMap<>(); // by id
    private final Map<String, Hold> holds = new HashMap<>(); // by lock name; the newest of those that cards have
    private final Map<String, List<Queued>> queues =
            new TreeMap<>(); // by lock name; every name that is held or waited for
    private final Map<String, PoolBuilder> pools = new TreeMap<>(); // by the shown name of the permits
    private final Map<String, ReadWriteBuilder> readWrite = new TreeMap<>(); // by the shown name of the lock
    private final Map<String, double[]> rates = new HashMap<>(); // by shown name; acquired and handed on, a second

    PictureBuilder(List<ClientCard> cards, Duration period) {
        this.period = period;
        cards.forEach(this::add);
    }

    private void add(ClientCard client) {
        clients.put(client.id(), client);
        for (HeldLock lock : client.held()) {
            // A card may be older than a hand-off; tokens grow, so the larger one is the newer hold.
            holds.merge(
                    lock.name(),
                    new Hold(client, lock),
                    (one, other) -> one.lock().fencingToken() >= other.lock().fencingToken() ? one : other);
            List<Queued> queue = queues.computeIfAbsent(lock.name(), name -> new ArrayList<>());
            if (lock.waiters() > 0 && !isSilent(client)) {
                queue.add(new Queued(client, lock.waiters(), lock.longestWait(), Optional.empty()));
            }
        }
        for (PermitsUse use : client.permits()) {
            pools.computeIfAbsent(Permits.SHOWN_PREFIX + use.name(), PoolBuilder::new)
                    .add(client, use, isSilent(client));
        }
        for (ReadWriteUse use : client.readWrite()) {
            readWrite
                    .computeIfAbsent(DistributedReadWriteLock.SHOWN_PREFIX + use.name(), ReadWriteBuilder::new)
                    .add(client, use, isSilent(client));
        }
        if (isSilent(client)) {
            return; // nobody waits there any more, or nobody knows
        }
        for (WaitedLock lock : client.waiting()) {
            queues.computeIfAbsent(lock.name(), name -> new ArrayList<>())
                    .add(new Queued(client, lock.waiters(), lock.waited(), lock.thread()));
        }
        double seconds = period.toMillis() / 1e3;
        for (ClientCard.Activity activity : client.busiest()) {
            double[] rate = rates.computeIfAbsent(activity.name(), name -> new double[2]);
            rate[0] += activity.acquired() / seconds;
            rate[1] += activity.handedOn() / seconds;
        }
    }

    private boolean isSilent(ClientCard client) {
        return LockPicture.isSilent(client, period);
    }

    /** Returns the names whose holder is not on a card, or on that of a silent client; the longest waits first. */
    Set<String> unclear() {
        Set<String> unclear = new LinkedHashSet<>();
        queues.entrySet().stream()
                .filter(entry -> {
                    Hold hold = holds.get(entry.getKey());
                    return hold == null || isSilent(hold.client());
                })
                .sorted(Map.Entry.comparingByValue(
                        Comparator.comparing(PictureBuilder::longestWait).reversed()))
                .forEach(entry -> unclear.add(entry.getKey()));
        return unclear;
    }

    /** Returns the names of the permits of which a silent client holds some: the store knows whether it still does. */
    Set<String> unclearPermits() {
        return pools.values().stream()
                .filter(PoolBuilder::isUnclear)
                .map(PoolBuilder::name)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** Returns the names of the read-write locks on which a silent client has a hold, as far as its card says. */
    Set<String> unclearReadWrite() {
        return readWrite.values().stream()
                .filter(ReadWriteBuilder::isUnclear)
                .map(ReadWriteBuilder::name)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** Returns whether this is how a read-write lock of the picture is shown. */
    boolean isReadWrite(String shownName) {
        return readWrite.containsKey(shownName);
    }

    /** Returns whether this is how permits or a read-write lock of the picture are shown. */
    boolean isPool(String shownName) {
        return pools.containsKey(shownName) || isReadWrite(shownName);
    }

    /** Returns whether this is how the events of such a thing are shown. */
    private boolean isInPool(String shownName) {
        return isPool(shownName)
                || Stream.of(DistributedReadWriteLock.READ_PREFIX, DistributedReadWriteLock.WRITE_PREFIX)
                        .anyMatch(half -> shownName.startsWith(half)
                                && isReadWrite(
                                        DistributedReadWriteLock.SHOWN_PREFIX + shownName.substring(half.length())));
    }

    /**
     * Returns the locks, in the order of their names, and after them the permits and the read-write locks. A lock that
     * is held for moments is on no card as held, so the busiest names have a row even if nobody seems to hold them.
     *
     * @param states what the store says of some locks; of others, the cards are believed
     * @param permits what it says of permits, by their names
     * @param halves what it says of read-write locks, by their names
     * @param wanted names that have a row even if they are free
     * @param cycles confirmed
     */
    List<LockRow> rows(
            Map<String, LockState> states,
            Map<String, PermitsState> permits,
            Map<String, ReadWriteState> halves,
            Collection<String> wanted,
            List<Cycle> cycles) {
        Set<String> busiest = busiest();
        Stream.concat(wanted.stream(), busiest.stream())
                .filter(name -> !isInPool(name))
                .forEach(name -> queues.computeIfAbsent(name, any -> new ArrayList<>()));
        List<LockRow> rows = new ArrayList<>();
        queues.forEach((name, queue) -> {
            LockState state = states.get(name);
            Holder holder = holder(name, state);
            LockRow row = LockRow.of(
                    name,
                    Optional.ofNullable(holder),
                    Optional.empty(),
                    Optional.empty(),
                    flags(holder, state, cycles.stream().anyMatch(cycle -> cycle.contains(name))),
                    queue,
                    rate(name));
            if (holder != null || !queue.isEmpty() || wanted.contains(name) || busiest.contains(name)) {
                rows.add(row);
            }
        });
        pools.forEach((shown, pool) -> {
            LockRow row = pool.row(shown, permits.get(pool.name()), rate(shown));
            if (row.permits().orElseThrow().used() > 0
                    || row.waiters() > 0
                    || wanted.contains(shown)
                    || busiest.contains(shown)) {
                rows.add(row);
            }
        });
        readWrite.forEach((shown, lock) -> {
            double[] reads = rate(DistributedReadWriteLock.READ_PREFIX + lock.name());
            double[] writes = rate(DistributedReadWriteLock.WRITE_PREFIX + lock.name());
            LockRow row = lock.row(
                    shown,
                    halves.get(lock.name()),
                    new double[] {reads[0] + writes[0], reads[1] + writes[1]},
                    cycles.stream().anyMatch(cycle -> cycle.contains(shown)));
            if (row.holderTitle().isPresent() || row.waiters() > 0 || wanted.contains(shown)) {
                rows.add(row);
            }
        });
        return rows;
    }

    private double[] rate(String name) {
        return rates.getOrDefault(name, new double[2]);
    }

    private Set<String> busiest() {
        return rates.entrySet().stream()
                .filter(entry -> entry.getValue()[0] >= BUSY_PER_SECOND)
                .sorted(Comparator.comparingDouble((Map.Entry<String, double[]> entry) -> entry.getValue()[0])
                        .reversed())
                .limit(BUSIEST_MAX)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    private @Nullable Holder holder(String name, @Nullable LockState state) {
        Hold hold = holds.get(name);
        if (state == null) {
            return hold == null ? null : holder(hold, Optional.empty());
        }
        String id = state.holder().orElse(null);
        if (id == null) {
            return null;
        }
        if (hold != null && hold.lock().holderId().equals(id)) {
            return holder(hold, state.remaining());
        }
        ClientCard card = clients.get(HolderId.client(id));
        return new Holder(
                id,
                card != null ? card.title() : state.holderTitle().orElse(id),
                Optional.ofNullable(card),
                state.fencingToken(),
                Optional.empty(),
                state.remaining(),
                false,
                Optional.empty(),
                Optional.empty());
    }

    /** @param left what the store says, if it was asked */
    private static Holder holder(Hold hold, Optional<Duration> left) {
        HeldLock lock = hold.lock();
        return new Holder(
                lock.holderId(),
                hold.client().title(),
                Optional.of(hold.client()),
                OptionalLong.of(lock.fencingToken()),
                Optional.of(lock.heldFor()),
                lock.remaining().isPresent() ? lock.remaining() : left,
                lock.remaining().isEmpty(),
                lock.thread(),
                lock.traceId());
    }

    private Set<Flag> flags(@Nullable Holder holder, @Nullable LockState state, boolean inCycle) {
        Set<Flag> flags = EnumSet.noneOf(Flag.class);
        if (holder == null) {
            return flags;
        }
        if (inCycle) {
            flags.add(Flag.CYCLE);
        }
        if (holder.card().filter(this::isSilent).isPresent()) {
            flags.add(Flag.DEAD);
        }
        if (HolderId.isForeign(holder.id())) {
            flags.add(Flag.FOREIGN);
        }
        if (state != null && state.remaining().isEmpty()) {
            flags.add(Flag.NO_EXPIRY);
        }
        if (holder.heldFor().isPresent() && !holder.isRenewed()) {
            flags.add(Flag.NOT_RENEWED);
        }
        return flags;
    }

    private static Duration longestWait(List<Queued> queue) {
        return queue.stream().map(Queued::waited).max(Comparator.naturalOrder()).orElse(Duration.ZERO);
    }
}
