package io.holdfast.verify.redis;

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
import io.holdfast.spi.StoreState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One name as a Redis server with our scripts keeps it: a twin of {@code acquire.lua} and the others, that can be
 * copied (replicas, crashes, states of a formal model) and can be made wrong ({@link ScriptBug}). {@code
 * ScriptModelTest} compares it with the in-process store, and the contract of the stores compares that one with real
 * servers.
 *
 * <p>Not modeled: that all names of a server share one counter of bases. Here each name has its own. {@code
 * CounterTest} of the Redis module runs the scripts and the mode commands on one counter, under clocks that jump.
 *
 * <p>Time is the server's, in nanoseconds, and is given with each command.
 */
final class ScriptModel implements NameModel {

    /** A waiting id, with the server time of its last poll. */
    private record Entry(long stampNanos, long pollMillis, long leaseMillis, long nonce) {
        boolean isAlive(long now) {
            return now - stampNanos <= 3 * pollMillis * 1_000_000;
        }
    }

    private final ScriptBug bug;
    private final Map<String, Entry> queue = new LinkedHashMap<>();
    private @Nullable String holder;
    private long base;
    private long expiresNanos;
    private long sequence;
    private int count;
    private long lastBase;

    ScriptModel(ScriptBug bug) {
        this.bug = bug;
    }

    @Override
    public ScriptModel copy() {
        ScriptModel copy = new ScriptModel(bug);
        copy.queue.putAll(queue);
        copy.holder = holder;
        copy.base = base;
        copy.expiresNanos = expiresNanos;
        copy.sequence = sequence;
        copy.count = count;
        copy.lastBase = lastBase;
        return copy;
    }

    /** The holder, if its time has not run out. */
    @Nullable
    String holder(long now) {
        return holder != null && now - expiresNanos >= 0 ? null : holder;
    }

    /** The base of the present or last hold. */
    long base() {
        return base;
    }

    /** For a model without time: the hold's time has run out. */
    void endByTime() {
        holder = null;
    }

    /** For a model without tokens: what only grows would make its states without number. */
    void forgetCounts() {
        base = 0;
        lastBase = 0;
        count = 0;
    }

    @Override
    public Map<String, Long> holds(long now) {
        String held = holder(now);
        return held == null ? Map.of() : Map.of(held, base);
    }

    @Override
    public boolean isFree(long now) {
        dropDead(now);
        return holder(now) == null && queue.isEmpty();
    }

    /** Whether an acquire of several names may have this one: held by this id, or by nobody and nobody waits. */
    boolean isToBeHadBy(String id, long now) {
        String held = holder(now);
        return id.equals(held) || (held == null && queue.isEmpty());
    }

    @Override
    public @Nullable AcquireReply acquire(AcquireRequest request, long notAfter, long now, Messenger messages) {
        if (now > notAfter && bug != ScriptBug.NO_NOT_AFTER) {
            return null;
        }
        expire(now);
        String id = request.holderId();
        if (id.equals(holder)) {
            again(request, now);
            return new Granted(base, waiting(now));
        }
        if (holder == null) {
            if (bug != ScriptBug.ASKER_GOES_FIRST) {
                passOn(id, now, messages);
            }
            if (holder == null) {
                queue.remove(id);
                hold(id, request.leaseMillis(), now);
                return new Granted(base, waiting(now));
            }
        }
        String held = Objects.requireNonNull(holder);
        dropDead(now);
        if (request.queue()) {
            boolean first = queue.isEmpty();
            enqueue(request, now);
            if (first && bug != ScriptBug.CONTENTION_IS_NOT_TOLD) {
                messages.contended(held);
            }
        }
        int place = new ArrayList<>(queue.keySet()).indexOf(id);
        return new Busy(remainingMillis(now), place < 0 ? queue.size() : place, held);
    }

    private void again(AcquireRequest request, long now) {
        count++;
        if (bug == ScriptBug.RESEND_GETS_A_NEW_BASE) {
            base = baseAt(now);
            lastBase = base;
        }
        if (bug == ScriptBug.RESEND_SHORTENS) {
            expiresNanos = now + request.leaseMillis() * 1_000_000;
        } else if (sequence == 0) {
            extend(request.leaseMillis(), now);
        }
    }

    @Override
    public RenewReply renew(RenewRequest request, long now) {
        expire(now);
        String id = request.holderId();
        if (bug == ScriptBug.RENEWAL_REVIVES && holder == null) {
            hold(id, request.leaseMillis(), now);
        }
        if (!id.equals(holder)) {
            return new RenewReply.Gone();
        }
        if (request.isLook()) {
            return new RenewReply.Renewed(request.counted() ? waiting(now) : 0);
        }
        if (request.sequence() < sequence && bug != ScriptBug.OLD_RENEWAL_COUNTS) {
            return new RenewReply.Superseded();
        }
        boolean fresh = request.sequence() > sequence || bug == ScriptBug.SETTING_COUNTS_TWICE;
        sequence = Math.max(sequence, request.sequence());
        long lease = request.leaseMillis() * 1_000_000;
        if (!request.exact()) {
            if (bug == ScriptBug.RENEWAL_SHORTENS) {
                expiresNanos = now + lease;
            }
            extend(request.leaseMillis(), now);
        } else if (fresh) {
            expiresNanos = now + lease;
        } else if (expiresNanos - now < lease) {
            return new RenewReply.Superseded();
        }
        boolean counted = request.counted() && bug != ScriptBug.RENEWAL_HIDES_WAITERS;
        return new RenewReply.Renewed(counted ? waiting(now) : 0);
    }

    @Override
    public ReleaseReply release(ReleaseRequest request, long notAfter, long now, Messenger messages) {
        expire(now);
        AcquireRequest requeue = request.requeue();
        boolean held = request.holderId().equals(holder);
        if (!held && (bug != ScriptBug.RELEASE_WITHOUT_OWNER_CHECK || holder == null)) {
            if (bug == ScriptBug.REQUEUE_ALTHOUGH_GONE && requeue != null) {
                enqueue(requeue, now);
            }
            return ReleaseReply.notHeld();
        }
        if (bug == ScriptBug.RESEND_COUNTS_TWICE && --count > 0) {
            return ReleaseReply.released();
        }
        holder = null;
        if (requeue == null || now > notAfter) {
            if (bug != ScriptBug.RELEASE_GRANTS_NOBODY) {
                passOn(null, now, messages);
            }
            return ReleaseReply.released();
        }
        enqueue(requeue, now);
        return ReleaseReply.requeued(acquire(requeue, Long.MAX_VALUE, now, messages));
    }

    @Override
    public List<String> waiting() {
        return List.copyOf(queue.keySet());
    }

    @Override
    public boolean abandon(String holderId, long now, Messenger messages) {
        if (bug != ScriptBug.ABANDON_LEAVES_THE_QUEUE) {
            queue.remove(holderId);
        }
        if (bug == ScriptBug.ABANDON_KEEPS_THE_HOLD) {
            return holderId.equals(holder(now));
        }
        return release(ReleaseRequest.of("", holderId), Long.MAX_VALUE, now, messages)
                .wasHeld();
    }

    @Override
    public ForceReply forceRelease(@Nullable String expected, long now, Messenger messages) {
        String held = holder(now);
        if (held == null) {
            return new ForceReply.Free();
        }
        if (expected != null && !expected.equals(held)) {
            return new ForceReply.HeldBy(held);
        }
        messages.forced(held);
        abandon(held, now, messages);
        return new ForceReply.Ended(held);
    }

    @Override
    public StoreState inspect(long now) {
        expire(now);
        return holder == null
                ? StoreState.free(waiting(now))
                : new StoreState(holder, remainingMillis(now), base, waiting(now));
    }

    private void passOn(@Nullable String asker, long now, Messenger messages) {
        for (String id : List.copyOf(queue.keySet())) {
            if (id.equals(asker)) {
                return;
            }
            Entry entry = Objects.requireNonNull(queue.remove(id));
            boolean alive = entry.isAlive(now) || bug == ScriptBug.DEAD_ENTRIES_ARE_GRANTED;
            long first = bug == ScriptBug.LONG_FIRST_LEASE
                    ? entry.leaseMillis()
                    : Math.min(entry.leaseMillis(), 3 * entry.pollMillis());
            PushedGrant grant = new PushedGrant(
                    "",
                    id,
                    baseAt(now),
                    queue.size(),
                    first,
                    entry.nonce(),
                    Math.max(0, (now - entry.stampNanos()) / 1_000_000),
                    PushedGrant.ALWAYS);
            if (alive && heard(grant, messages)) {
                hold(id, first, now);
                return;
            }
        }
    }

    private boolean heard(PushedGrant grant, Messenger messages) {
        return bug == ScriptBug.GRANT_IS_NOT_SENT
                || messages.granted(grant)
                || bug == ScriptBug.DEAF_CLIENTS_ARE_GRANTED;
    }

    private void enqueue(AcquireRequest request, long now) {
        Entry entry = new Entry(now, request.pollMillis(), request.leaseMillis(), request.nonce());
        if (bug == ScriptBug.POLL_LOSES_ITS_PLACE) {
            queue.remove(request.holderId());
        }
        if (bug == ScriptBug.POLL_DOES_NOT_STAMP) {
            queue.putIfAbsent(request.holderId(), entry);
        } else {
            queue.put(request.holderId(), entry);
        }
    }

    private void hold(String id, long leaseMillis, long now) {
        holder = id;
        base = baseAt(now);
        lastBase = base;
        sequence = 0;
        count = 1;
        expiresNanos = now + leaseMillis * 1_000_000;
    }

    /** The base of a hold that begins now. */
    private long baseAt(long now) {
        long clock = bug == ScriptBug.BASE_WITHOUT_CLOCK ? 0 : now / 62_500;
        return bug == ScriptBug.BASE_WITHOUT_COUNT ? clock : Math.max(lastBase + 1, clock);
    }

    private void extend(long leaseMillis, long now) {
        expiresNanos = Math.max(expiresNanos, now + leaseMillis * 1_000_000);
    }

    private void expire(long now) {
        holder = holder(now);
    }

    private long remainingMillis(long now) {
        return Math.max(1, (expiresNanos - now) / 1_000_000);
    }

    private int waiting(long now) {
        dropDead(now);
        return queue.size();
    }

    private void dropDead(long now) {
        if (bug != ScriptBug.DEAD_ENTRIES_ARE_GRANTED) {
            queue.values().removeIf(entry -> !entry.isAlive(now));
        }
    }

    private List<@Nullable Object> everything() {
        return java.util.Arrays.asList(
                holder, base, expiresNanos, sequence, count, lastBase, List.copyOf(queue.entrySet()));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ScriptModel model && everything().equals(model.everything());
    }

    @Override
    public int hashCode() {
        return everything().hashCode();
    }

    @Override
    public String toString() {
        return "held by " + holder + ", base " + base + ", queue " + queue.keySet();
    }
}
