package io.holdfast.record;

import io.holdfast.record.NameRecord.Entry;
import io.holdfast.record.NameRecord.Hold;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Decides one command on one name: a pure function from a {@link NameRecord} and an instant to a reply, the next record
 * and messages. The reference for what the Redis scripts do. A lock is the pool of capacity 1.
 *
 * <p>The rule: all live entries, holders and waiters, stand in the order in which they came. An entry fits if the
 * weights up to and including its own are at most its capacity. An entry holds when it and every entry before it fit.
 * As holders came before waiters, it is enough to look at the head of the queue.
 */
public final class NameDecision {

    /** One command tells so many holders at most that somebody waits. */
    private static final int CONTENDED_MAX = 64;

    /** How long nobody asks again about a name whose last hold has ended but is guarded, unless told to. */
    private static final long GUARDED_MILLIS = 250;

    /** The holder of such a name, for people. */
    private static final String GUARD = "(an open transaction under its guard)";

    private final String name;
    private final boolean guarded;
    private final long now;
    private final LongSupplier bases;
    private final Predicate<String> isConnected;

    /** Those that have not run out. */
    private final List<Hold> holds;

    private final List<Entry> queue;
    private final List<NameMessage> messages = new ArrayList<>(0);

    /**
     * @param bases makes a base that is larger than all before it
     * @param isConnected whether a grant can reach the client of a holder id
     */
    public NameDecision(String name, NameRecord before, long now, LongSupplier bases, Predicate<String> isConnected) {
        this(name, before, false, now, bases, isConnected);
    }

    /** @param guarded whether an open transaction keeps the name from a new hold: then nothing is granted */
    public NameDecision(
            String name,
            NameRecord before,
            boolean guarded,
            long now,
            LongSupplier bases,
            Predicate<String> isConnected) {
        this.name = name;
        this.guarded = guarded;
        this.now = now;
        this.bases = bases;
        this.isConnected = isConnected;
        this.holds = new ArrayList<>(before.holds());
        this.queue = new ArrayList<>(before.queue());
        holds.removeIf(hold -> hold.isOver(now));
    }

    /**
     * Returns why a request is refused before any decision; null if its weight and capacity are right.
     *
     * @param pool whether several ids may hold the name
     * @param store names the store in the message
     */
    public static @Nullable StoreException refusal(AcquireRequest request, boolean pool, String store) {
        int most = pool ? AcquireRequest.CAPACITY_MAX : 1;
        return request.isInRange(most)
                ? null
                : new StoreException(
                        StoreException.Outcome.FATAL,
                        store + " was asked for a hold of weight " + request.weight() + " and capacity "
                                + request.capacity()
                                + " (expected: a weight from 1 to the capacity, and a capacity of at most " + most
                                + ")",
                        null);
    }

    /** Returns what the name is after the command. */
    public NameRecord after() {
        return holds.isEmpty() && queue.isEmpty() ? NameRecord.FREE : new NameRecord(holds, queue);
    }

    /** Returns what to tell after the command, in this order. */
    public List<NameMessage> messages() {
        return messages;
    }

    /** Returns whether this id holds the name, or no id holds it or waits for it. */
    public boolean isFreeFor(String holderId) {
        return indexOf(holderId) >= 0 || (holds.isEmpty() && waiting() == 0);
    }

    public AcquireReply acquire(AcquireRequest request) {
        int own = indexOf(request.holderId());
        if (own >= 0) {
            Hold held = holds.get(own);
            // A late repetition must not lengthen the hold after an exact setting, which was sent after it.
            if (held.sequence() == 0) {
                extend(own, request.leaseMillis(), 0);
            }
            return new Granted(held.base(), waiting());
        }
        int place = placeOf(request.holderId());
        if (place >= 0 && request.queue()) {
            queue.set(place, new Entry(request, now));
        }
        serve(request);
        own = indexOf(request.holderId());
        if (own < 0 && queue.isEmpty() && fits(request)) {
            own = hold(request, request.leaseMillis());
        }
        if (own >= 0) {
            return new Granted(holds.get(own).base(), waiting());
        }
        dropDead();
        if (request.queue() && placeOf(request.holderId()) < 0) {
            if (queue.isEmpty()) {
                tellContended(request);
            }
            queue.add(new Entry(request, now));
        }
        Hold first = firstToEnd();
        if (first == null) {
            return new Busy(GUARDED_MILLIS, ahead(request.holderId()), GUARD);
        }
        return new Busy(first.remainingMillis(now), ahead(request.holderId()), first.holderId());
    }

    public RenewReply renew(RenewRequest request) {
        int own = indexOf(request.holderId());
        if (own < 0) {
            return new RenewReply.Gone();
        }
        if (request.isLook()) {
            return new RenewReply.Renewed(waiting());
        }
        Hold held = holds.get(own);
        if (request.sequence() < held.sequence()) {
            return new RenewReply.Superseded();
        }
        long end = now + request.leaseMillis() * 1_000_000;
        if (!request.exact()) {
            // A plain renewal uses up the number, too: a later setting with the same number must not shorten the hold.
            extend(own, request.leaseMillis(), request.sequence());
        } else if (request.sequence() > held.sequence()) {
            holds.set(own, held.until(end, request.sequence()));
        } else if (held.endNanos() - end < 0) {
            // The setting was executed before and time has passed since, so the full time cannot be promised.
            return new RenewReply.Superseded();
        }
        return new RenewReply.Renewed(waiting());
    }

    public ReleaseReply release(ReleaseRequest request) {
        int own = indexOf(request.holderId());
        if (own < 0) {
            return ReleaseReply.notHeld();
        }
        holds.remove(own);
        AcquireRequest requeue = request.requeue();
        if (requeue != null) {
            queue.add(new Entry(requeue, now));
            return ReleaseReply.requeued(acquire(requeue));
        }
        serve(null);
        return ReleaseReply.released();
    }

    public boolean abandon(String holderId) {
        int place = placeOf(holderId);
        // A waiter of a pool may have kept those behind it from holds that fit.
        boolean kept = place >= 0 && queue.remove(place).request().capacity() > 1;
        boolean held = holds.removeIf(hold -> hold.holderId().equals(holderId));
        if (kept || held) {
            serve(null);
        }
        return held;
    }

    public ForceReply forceRelease(@Nullable String expected) {
        Hold first = firstToEnd();
        if (first == null) {
            return new ForceReply.Free();
        }
        if (expected != null && indexOf(expected) < 0) {
            return new ForceReply.HeldBy(first.holderId());
        }
        holds.removeIf(hold -> {
            boolean ended = expected == null || expected.equals(hold.holderId());
            if (ended) {
                messages.add(new NameMessage.Forced(name, hold.holderId()));
            }
            return ended;
        });
        serve(null);
        return new ForceReply.Ended(expected != null ? expected : first.holderId());
    }

    /** Returns the state of a lock. Changes nothing. */
    public StoreState inspectLock() {
        Hold first = firstToEnd();
        if (first == null) {
            return guarded ? new StoreState(GUARD, GUARDED_MILLIS, 0, waiting()) : StoreState.free(waiting());
        }
        return new StoreState(first.holderId(), first.remainingMillis(now), first.base(), waiting());
    }

    /** Returns the state of a pool. Changes nothing. */
    public StoreState inspectPool() {
        StoreState state = inspectLock();
        List<StoreState.Held> held = holds.stream()
                .map(hold ->
                        new StoreState.Held(hold.holderId(), hold.weight(), hold.remainingMillis(now), hold.base()))
                .toList();
        return new StoreState(state.holder(), state.remainingMillis(), state.base(), state.waiting(), used(), held);
    }

    /**
     * Grants to the head of the queue for as long as it fits. An entry that is dead, or whose client is not connected,
     * is removed. A grant has a short lease: if the client does not use it, the next one does not wait for long. The
     * asker counts as alive, and is granted its full lease by the reply.
     */
    private void serve(@Nullable AcquireRequest asker) {
        if (queue.isEmpty()) {
            return;
        }
        List<Entry> granted = new ArrayList<>(0);
        while (!queue.isEmpty()) {
            Entry head = queue.get(0);
            AcquireRequest asked = asker != null && asker.holderId().equals(head.holderId()) ? asker : null;
            boolean live = asked != null || (head.isAlive(now) && isConnected.test(head.holderId()));
            AcquireRequest request = asked != null ? asked : head.request();
            if (live && !fits(request)) {
                break;
            }
            queue.remove(0);
            if (asked != null) {
                hold(request, request.leaseMillis());
            } else if (live) {
                hold(request, Math.min(request.leaseMillis(), 3 * request.pollMillis()));
                granted.add(head);
            }
        }
        granted.forEach(this::tellGranted);
    }

    private boolean fits(AcquireRequest request) {
        return !guarded && used() + request.weight() <= request.capacity();
    }

    private int used() {
        int used = 0;
        for (Hold hold : holds) {
            used += hold.weight();
        }
        return used;
    }

    /** Returns the place of the new hold. */
    private int hold(AcquireRequest request, long leaseMillis) {
        holds.add(new Hold(request.holderId(), request.weight(), bases.getAsLong(), now + leaseMillis * 1_000_000, 0));
        return holds.size() - 1;
    }

    private void extend(int own, long leaseMillis, long sequence) {
        Hold held = holds.get(own);
        long end = now + leaseMillis * 1_000_000;
        holds.set(own, held.until(end - held.endNanos() > 0 ? end : held.endNanos(), sequence));
    }

    private void tellGranted(Entry entry) {
        Hold hold = holds.get(indexOf(entry.holderId()));
        messages.add(new NameMessage.Granted(new PushedGrant(
                name,
                hold.holderId(),
                hold.base(),
                queue.size(),
                (hold.endNanos() - now) / 1_000_000,
                entry.request().nonce(),
                Math.floorDiv(now - entry.stampNanos(), 1_000_000L),
                PushedGrant.ALWAYS)));
    }

    /** Tells the holders that somebody waits who needs all of them to end, or the only one. */
    private void tellContended(AcquireRequest waiter) {
        if (waiter.weight() == waiter.capacity() || holds.size() == 1) {
            holds.stream()
                    .limit(CONTENDED_MAX)
                    .forEach(hold -> messages.add(new NameMessage.Contended(name, hold.holderId())));
        }
    }

    /** Returns the hold whose time runs out first; null if there is none. */
    private @Nullable Hold firstToEnd() {
        return holds.stream()
                .min(Comparator.comparingLong(hold -> hold.endNanos() - now))
                .orElse(null);
    }

    private int indexOf(String holderId) {
        for (int i = 0; i < holds.size(); i++) {
            if (holds.get(i).holderId().equals(holderId)) {
                return i;
            }
        }
        return -1;
    }

    private int placeOf(String holderId) {
        for (int i = 0; i < queue.size(); i++) {
            if (queue.get(i).holderId().equals(holderId)) {
                return i;
            }
        }
        return -1;
    }

    private int waiting() {
        dropDead();
        return queue.size();
    }

    private int ahead(String holderId) {
        int place = placeOf(holderId);
        return place < 0 ? queue.size() : place;
    }

    private void dropDead() {
        queue.removeIf(entry -> !entry.isAlive(now));
    }
}
