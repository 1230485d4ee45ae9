package io.holdfast.sql;

import io.holdfast.record.NameMessage;
import io.holdfast.record.NameRecord.Entry;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.TimeSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Looks at rows, where no message can be sent: at the names in which this client waits, the sooner the fewer wait before
 * it, and at its holds each second.
 */
final class Watch implements Messages {

    private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(25);
    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** So many rows are looked at by one command. */
    private static final int BATCH = 500;

    /**
     * An entry in a queue.
     *
     * @param stampMicros when it was stamped, by the clock of the server {@code mark}
     * @param dueNanos when to look at it
     * @param untilNanos when it is dead
     */
    private record Waiting(
            AcquireRequest request, boolean pool, long stampMicros, long mark, long dueNanos, long untilNanos) {

        String key() {
            return pool ? LockKey.ofPool(request.name()) : LockKey.of(request.name());
        }

        Waiting due(long nanos) {
            return new Waiting(request, pool, stampMicros, mark, nanos, untilNanos);
        }
    }

    private final LockTable table;
    private final Workers workers;
    private final Holds holds;
    private final Receivers receivers;
    private final TimeSource time;
    private final LongUnaryOperator random;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Waiting> waiting = new HashMap<>(); // by lock, by holder id
    private TimeSource.@Nullable Timer timer; // by lock
    private long timerDue; // by lock
    private boolean looking; // by lock
    private boolean started; // by lock
    private boolean closed; // by lock
    private long holdsDue; // by lock
    private int firstHold; // by lock

    Watch(
            LockTable table,
            Workers workers,
            Holds holds,
            Receivers receivers,
            TimeSource time,
            LongUnaryOperator random) {
        this.table = table;
        this.workers = workers;
        this.holds = holds;
        this.receivers = receivers;
        this.time = time;
        this.random = random;
    }

    @Override
    public CompletionStage<Boolean> start() {
        lock.lock();
        try {
            if (!started) {
                started = true;
                holdsDue = time.nanoTime() + MOST_NANOS;
                schedule();
            }
        } finally {
            lock.unlock();
        }
        return CompletableFuture.completedFuture(true);
    }

    @Override
    public void waiting(AcquireRequest request, boolean pool, Row stampedIn, int ahead) {
        lock.lock();
        try {
            long now = time.nanoTime();
            long until = now + 3 * TimeUnit.MILLISECONDS.toNanos(request.pollMillis());
            waiting.put(
                    request.holderId(),
                    new Waiting(request, pool, stampedIn.nowMicros(), stampedIn.mark(), now + pause(ahead), until));
            schedule();
        } finally {
            lock.unlock();
        }
    }

    private long pause(int ahead) {
        long pause = Math.min(MOST_NANOS, STEP_NANOS * (ahead + 1L));
        return pause * 4 / 5 + random.applyAsLong(pause * 2 / 5);
    }

    @Override
    public void served(String holderId) {
        lock.lock();
        try {
            waiting.remove(holderId);
        } finally {
            lock.unlock();
        }
    }

    /** Sets the timer for what is due first. By lock. */
    private void schedule() {
        if (closed || looking) {
            return;
        }
        long due = holdsDue;
        for (Waiting each : waiting.values()) {
            due = due - each.dueNanos() > 0 ? each.dueNanos() : due;
        }
        if (timer != null) {
            if (timerDue - due <= 0) {
                return;
            }
            timer.cancel();
        }
        timerDue = due;
        timer = time.schedule(due - time.nanoTime(), this::look);
    }

    private void look() {
        List<Waiting> due = new ArrayList<>();
        List<Holds.Held> held = List.of();
        lock.lock();
        try {
            timer = null;
            if (closed) {
                return;
            }
            looking = true;
            long now = time.nanoTime();
            waiting.values().removeIf(each -> each.untilNanos() - now < 0);
            waiting.values().stream()
                    .filter(each -> each.dueNanos() - now <= 0)
                    .limit(BATCH)
                    .forEach(due::add);
            if (holdsDue - now <= 0) {
                holdsDue = now + MOST_NANOS;
                held = someHolds();
            }
        } finally {
            lock.unlock();
        }
        look(due, held);
    }

    /** Returns the next holds to look at. By lock. */
    private List<Holds.Held> someHolds() {
        List<Holds.Held> all = holds.all();
        int from = firstHold < all.size() ? firstHold : 0;
        int to = Math.min(all.size(), from + BATCH);
        firstHold = to;
        return all.subList(from, to);
    }

    private void look(List<Waiting> due, List<Holds.Held> held) {
        List<String> keys = new ArrayList<>();
        due.forEach(each -> keys.add(each.key()));
        held.forEach(each -> keys.add(each.key()));
        CompletionStage<Map<String, Row>> rows = keys.isEmpty()
                ? CompletableFuture.completedFuture(Map.of())
                : workers.submit(
                        link -> table.readAll(link, keys.stream().distinct().toList()));
        rows.whenComplete((found, error) -> {
            // A failure is no news: the commands meet it as well.
            Map<String, Row> known = error == null ? found : Map.of();
            due.forEach(each -> seen(each, known.get(each.key())));
            held.forEach(each -> seen(each, known.get(each.key())));
            lock.lock();
            try {
                looking = false;
                schedule();
            } finally {
                lock.unlock();
            }
        });
    }

    private void seen(Waiting entry, @Nullable Row row) {
        String holderId = entry.request().holderId();
        PushedGrant grant = row == null ? null : grant(entry, row);
        lock.lock();
        try {
            // Otherwise a later request of this id, or its end, has come in between.
            if (!entry.equals(waiting.get(holderId))) {
                return;
            }
            if (grant != null) {
                waiting.remove(holderId);
            } else {
                int ahead = row == null ? 0 : ahead(row, holderId);
                waiting.put(holderId, entry.due(time.nanoTime() + pause(ahead)));
            }
        } finally {
            lock.unlock();
        }
        if (grant != null && row != null) {
            receivers.deliver(entry.pool(), new NameMessage.Granted(grant), contendedBefore(entry, row));
        }
    }

    /**
     * Returns what the row had counted before its holder was granted. The count of a lock begins with the grant. That of
     * a pool goes on, so the last one that counted and may still wait is taken for later than the grant.
     */
    private static long contendedBefore(Waiting entry, Row row) {
        return entry.pool() ? Math.max(0, row.contended() - (row.queue().isEmpty() ? 0 : 1)) : 0;
    }

    private static int ahead(Row row, String holderId) {
        int ahead = 0;
        for (Entry entry : QueueText.entries("", row.queue())) {
            if (entry.holderId().equals(holderId)) {
                break;
            }
            ahead++;
        }
        return ahead;
    }

    /** Returns the grant that the row shows; null if the id does not hold. */
    private static @Nullable PushedGrant grant(Waiting entry, Row row) {
        AcquireRequest request = entry.request();
        String id = request.holderId();
        int waiting = (int) QueueText.entries("", row.queue()).stream()
                .filter(each -> each.isAlive(row.nowMicros() * 1_000))
                .count();
        if (entry.pool()) {
            // A pool's row does not say when each hold was granted, so the receiver asks.
            return QueueText.holds(row.holders()).stream()
                    .filter(hold -> hold.holderId().equals(id) && !hold.isOver(row.nowMicros() * 1_000))
                    .findFirst()
                    .map(hold -> Notes.undated(new PushedGrant(
                            request.name(), id, hold.base(), waiting, 0, PushedGrant.NO_NONCE, 0, PushedGrant.ALWAYS)))
                    .orElse(null);
        }
        if (!row.isHeldBy(id)) {
            return null;
        }
        long sinceMicros = row.endMicros() - row.leaseMillis() * 1_000 - entry.stampMicros();
        PushedGrant grant = new PushedGrant(
                request.name(),
                id,
                row.base(),
                waiting,
                row.leaseMillis(),
                request.nonce(),
                Math.floorDiv(sinceMicros, 1_000L),
                PushedGrant.ALWAYS);
        return row.mark() == entry.mark() ? Notes.dated(grant) : Notes.undated(grant);
    }

    /** Tells the holder that somebody has begun to wait, or that its hold is gone. */
    private void seen(Holds.Held held, @Nullable Row row) {
        if (row == null) {
            return;
        }
        boolean holds = held.pool()
                ? QueueText.holds(row.holders()).stream()
                        .anyMatch(hold -> hold.holderId().equals(held.holderId()))
                : row.base() == held.base() && row.holder().equals(held.holderId());
        if (!holds) {
            forced(held);
        } else if (row.contended() > held.contended() && this.holds.replace(held, held.told(row.contended()))) {
            for (long told = held.contended(); told < row.contended(); told++) {
                receivers.deliver(held.pool(), new NameMessage.Contended(held.name(), held.holderId()));
            }
        }
    }

    /** The receiver asks the store. If this client has released the hold itself, it is not in its holds any more. */
    private void forced(Holds.Held held) {
        if (holds.replace(held, null)) {
            receivers.deliver(held.pool(), new NameMessage.Forced(held.name(), held.holderId()));
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            if (timer != null) {
                timer.cancel();
            }
        } finally {
            lock.unlock();
        }
    }
}
