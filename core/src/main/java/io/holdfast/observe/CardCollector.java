package io.holdfast.observe;

import io.holdfast.ClientCard.HeldLock;
import io.holdfast.ClientCard.PermitsUse;
import io.holdfast.ClientCard.ReadWriteUse;
import io.holdfast.ClientCard.WaitedLock;
import io.holdfast.engine.ActiveLease;
import io.holdfast.engine.EventLock;
import io.holdfast.engine.LockEvents.NameVisitor;
import io.holdfast.engine.PoolRequest;
import io.holdfast.engine.Waiter;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Collects what a card says of a client's names: the oldest holds, the longest waits, and the sum of each pool. */
final class CardCollector implements NameVisitor {

    static final int SHOWN_MAX = 200;

    final long nowNanos;
    private final boolean threads;
    private final PriorityQueue<HeldLock> held = new PriorityQueue<>(Comparator.comparing(HeldLock::heldFor));
    private final PriorityQueue<WaitedLock> waiting = new PriorityQueue<>(Comparator.comparing(WaitedLock::waited));
    private final Map<Limited, Uses> permits = new HashMap<>();
    private final Map<Half, Uses> readWrite = new HashMap<>();
    private int heldCount;
    private int waitingCount;

    /** For how long the store may keep the longest of all holds. */
    private long longestNanos;

    private record Limited(String name, int limit) {}

    private record Half(String name, boolean isWriter) {}

    /** The sum of all acquisitions of one kind. */
    private static final class Uses {
        private int leases;
        private int held;
        private @Nullable ActiveLease oldest;
        private int waiters;
        private @Nullable Waiter first;

        void add(ActiveLease lease, int weight) {
            leases++;
            held += weight;
            if (oldest == null || lease.grantedNanos < oldest.grantedNanos) {
                oldest = lease;
            }
        }

        void add(Waiter waiter, int count) {
            waiters += count;
            if (first == null || waiter.arrivedNanos < first.arrivedNanos) {
                first = waiter;
            }
        }
    }

    /** @param threads whether the card names threads */
    CardCollector(long nowNanos, boolean threads) {
        this.nowNanos = nowNanos;
        this.threads = threads;
    }

    @Override
    public void visit(
            EventLock<?> at,
            @Nullable ActiveLease lease,
            @Nullable Waiter first,
            int waiters,
            @Nullable String holder) {
        String name = at.name();
        PoolRequest wanted = at.poolRequest();
        if (wanted != null) {
            addPool(wanted, lease, first, waiters);
        } else if (lease != null) {
            addHeld(name, lease, lease.mostRemainingNanos(), first, waiters);
        } else if (first != null) {
            waitingCount++;
            Duration waited = since(first.arrivedNanos);
            show(
                    waiting,
                    waited,
                    WaitedLock::waited,
                    () -> new WaitedLock(
                            name,
                            waited,
                            waiters,
                            Optional.ofNullable(holder),
                            thread(first.parked),
                            number(first.threadId())));
        }
    }

    /** Takes a lease that a close of the client has ended, and whose hold nobody renews any more. */
    void addLeft(ActiveLease lease) {
        PoolRequest wanted = lease.hold.engine.poolRequest();
        if (wanted != null) {
            addPool(wanted, lease, null, 0);
        } else {
            addHeld(lease.name(), lease, lease.unrenewedNanos(), null, 0);
        }
    }

    /** Takes one acquisition of a pool: its lease or its wait. */
    private void addPool(PoolRequest wanted, @Nullable ActiveLease lease, @Nullable Waiter first, int waiters) {
        Uses uses = switch (wanted.kind()) {
            case PERMITS -> permits.computeIfAbsent(new Limited(wanted.name(), wanted.limit()), any -> new Uses());
            case READ -> readWrite.computeIfAbsent(new Half(wanted.name(), false), any -> new Uses());
            case WRITE -> readWrite.computeIfAbsent(new Half(wanted.name(), true), any -> new Uses());
        };
        if (lease != null) {
            longestNanos = Math.max(longestNanos, lease.hold.longestNanos());
            uses.add(lease, wanted.weight());
        }
        if (first != null) {
            uses.add(first, waiters);
        }
    }

    private void addHeld(String name, ActiveLease lease, long mostNanos, @Nullable Waiter first, int waiters) {
        longestNanos = Math.max(longestNanos, lease.hold.longestNanos());
        heldCount++;
        show(held, since(lease.grantedNanos), HeldLock::heldFor, () -> held(name, lease, mostNanos, first, waiters));
    }

    /** Adds an entry of this age if it is among the oldest. */
    private static <T> void show(PriorityQueue<T> shown, Duration age, Function<T, Duration> ageOf, Supplier<T> entry) {
        T youngest = shown.peek();
        if (shown.size() < SHOWN_MAX || youngest == null || age.compareTo(ageOf.apply(youngest)) > 0) {
            shown.add(entry.get());
            if (shown.size() > SHOWN_MAX) {
                shown.poll();
            }
        }
    }

    private HeldLock held(String name, ActiveLease lease, long left, @Nullable Waiter first, int waiters) {
        long sinceNow = lease.hold.engine.time().nanoTime() - nowNanos;
        return new HeldLock(
                name,
                lease.hold.holderId(),
                lease.fencingToken(),
                since(lease.grantedNanos),
                left == ActiveLease.NO_LIMIT ? Optional.empty() : Optional.of(Duration.ofNanos(left + sinceNow)),
                waiters,
                first == null ? Duration.ZERO : since(first.arrivedNanos),
                thread(lease.owner()),
                Optional.ofNullable(lease.traceParent()),
                number(lease.releaserId()));
    }

    /** Returns the number of a thread by its id; zero is no thread. */
    private static OptionalLong number(long threadId) {
        return threadId == 0 ? OptionalLong.empty() : OptionalLong.of(threadId);
    }

    private Optional<String> thread(@Nullable Thread thread) {
        return threads && thread != null ? Optional.of(thread.getName()) : Optional.empty();
    }

    private Duration since(long nanos) {
        return Duration.ofNanos(Math.max(0, nowNanos - nanos));
    }

    List<HeldLock> held() {
        return held.stream()
                .sorted(Comparator.comparing(HeldLock::heldFor).reversed().thenComparing(HeldLock::name))
                .toList();
    }

    int heldCount() {
        return heldCount;
    }

    List<WaitedLock> waiting() {
        return waiting.stream()
                .sorted(Comparator.comparing(WaitedLock::waited).reversed().thenComparing(WaitedLock::name))
                .toList();
    }

    int waitingCount() {
        return waitingCount;
    }

    /** Returns the permits with the longest waits, and then those that are held longest. */
    List<PermitsUse> permits() {
        return permits.entrySet().stream()
                .map(entry -> {
                    Limited wanted = entry.getKey();
                    Uses uses = entry.getValue();
                    return new PermitsUse(
                            wanted.name(),
                            wanted.limit(),
                            uses.leases,
                            uses.held,
                            heldFor(uses),
                            uses.waiters,
                            waited(uses));
                })
                .sorted(Comparator.comparing(PermitsUse::waited)
                        .thenComparing(PermitsUse::heldFor)
                        .reversed()
                        .thenComparing(PermitsUse::name)
                        .thenComparing(PermitsUse::limit))
                .limit(SHOWN_MAX)
                .toList();
    }

    /** Returns the halves of read-write locks with the longest waits, and then those that are held longest. */
    List<ReadWriteUse> readWrite() {
        return readWrite.entrySet().stream()
                .map(entry -> {
                    Half half = entry.getKey();
                    Uses uses = entry.getValue();
                    ActiveLease oldest = uses.oldest;
                    return new ReadWriteUse(
                            half.name(),
                            half.isWriter(),
                            uses.leases,
                            heldFor(uses),
                            oldest == null ? Optional.empty() : Optional.of(oldest.hold.holderId()),
                            oldest == null ? OptionalLong.empty() : number(oldest.releaserId()),
                            uses.waiters,
                            waited(uses),
                            uses.first == null ? OptionalLong.empty() : number(uses.first.threadId()));
                })
                .sorted(Comparator.comparing(ReadWriteUse::waited)
                        .thenComparing(ReadWriteUse::heldFor)
                        .reversed()
                        .thenComparing(ReadWriteUse::name)
                        .thenComparing(ReadWriteUse::isWriter))
                .limit(SHOWN_MAX)
                .toList();
    }

    private Duration heldFor(Uses uses) {
        return uses.oldest == null ? Duration.ZERO : since(uses.oldest.grantedNanos);
    }

    private Duration waited(Uses uses) {
        return uses.first == null ? Duration.ZERO : since(uses.first.arrivedNanos);
    }

    long longestNanos() {
        return longestNanos;
    }
}
