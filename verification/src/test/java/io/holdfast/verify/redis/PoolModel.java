package io.holdfast.verify.redis;

import io.holdfast.engine.PoolBug;
import io.holdfast.record.NameDecision;
import io.holdfast.record.NameRecord;
import io.holdfast.record.NameRecord.Entry;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One pool as a Redis server with our scripts keeps it. The rules are those of {@link NameDecision}, which the scripts
 * are compared with; the "not after" is added, and it can be made wrong ({@link PoolBug}).
 */
final class PoolModel implements NameModel {

    /** How many of one client wait at the server at most, if none has been executed late. */
    private static final int WAITING_MAX = 16;

    private final PoolBug bug;
    private final boolean inOrder;
    private NameRecord record = NameRecord.FREE;
    private long lastBase;

    /** @param inOrder whether commands are executed once, in their order */
    PoolModel(PoolBug bug, boolean inOrder) {
        this.bug = bug;
        this.inOrder = inOrder;
    }

    @Override
    public NameModel copy() {
        PoolModel copy = new PoolModel(bug, inOrder);
        copy.record = record;
        copy.lastBase = lastBase;
        return copy;
    }

    private <T> T decide(long now, Messenger messages, Function<NameDecision, T> command) {
        NameDecision decision = new NameDecision("", record, now, () -> nextBase(now), messages::hears);
        T reply = command.apply(decision);
        record = decision.after();
        Told told = new Told(messages);
        decision.messages().forEach(message -> message.deliver(told));
        return reply;
    }

    private long nextBase(long now) {
        lastBase = Math.max(lastBase + 1, now / 62_500);
        return lastBase;
    }

    /** Where the messages of a command go. */
    private final class Told implements StoreListener {
        private final Messenger messages;

        Told(Messenger messages) {
            this.messages = messages;
        }

        @Override
        public void granted(PushedGrant grant) {
            if (bug != PoolBug.GRANT_IS_NOT_SENT) {
                messages.granted(grant);
            }
        }

        @Override
        public void granted(String name, String holderId) {
            throw new AssertionError("a grant without its details");
        }

        @Override
        public void contended(String name, String holderId) {
            if (bug != PoolBug.WRITERS_ARE_NOT_TOLD_OF) {
                messages.contended(holderId);
            }
        }

        @Override
        public void forced(String name, String holderId) {
            messages.forced(holderId);
        }

        @Override
        public void released(String name) {
            throw new AssertionError("a hint to all");
        }

        @Override
        public void reconnected() {
            throw new AssertionError("no command");
        }
    }

    /** For commands that tell nobody anything. */
    private static final Messenger NOBODY = new Messenger() {
        @Override
        public boolean granted(PushedGrant grant) {
            throw new AssertionError("granted by a look");
        }

        @Override
        public void contended(String holderId) {}

        @Override
        public void forced(String holderId) {}
    };

    @Override
    public @Nullable AcquireReply acquire(AcquireRequest request, long notAfter, long now, Messenger messages) {
        if (now > notAfter && bug != PoolBug.NO_NOT_AFTER) {
            return null;
        }
        boolean overtakes = bug == PoolBug.SMALL_OVERTAKES_LARGE
                || (bug == PoolBug.READERS_OVERTAKE_A_WRITER
                        && request.weight() == 1
                        && request.capacity() == AcquireRequest.CAPACITY_MAX);
        if (overtakes && acquirePast(request, now, messages) instanceof Granted overtaking) {
            return overtaking;
        }
        AcquireReply reply = decide(now, messages, decision -> decision.acquire(request));
        if (inOrder) {
            checkGate();
        }
        return bug == PoolBug.REMAINING_OF_MINUS_ONE && reply instanceof Busy busy
                ? new Busy(Busy.NO_EXPIRY, busy.ahead(), busy.holder())
                : reply;
    }

    /** As if nobody waited. */
    private AcquireReply acquirePast(AcquireRequest request, long now, Messenger messages) {
        List<Entry> queue = new ArrayList<>(record.queue());
        record = new NameRecord(record.holds(), List.of());
        AcquireReply reply = decide(now, messages, decision -> decision.acquire(request.unqueued()));
        queue.removeIf(entry -> reply instanceof Granted && entry.holderId().equals(request.holderId()));
        record = new NameRecord(record.holds(), queue);
        return reply;
    }

    /** However many of a client want to wait, few of them do so here. */
    private void checkGate() {
        Map<String, Integer> waiting = new HashMap<>();
        for (String id : waiting()) {
            if (waiting.merge(HolderId.client(id), 1, Integer::sum) > WAITING_MAX) {
                throw new AssertionError(
                        "more than " + WAITING_MAX + " of " + HolderId.client(id) + " wait at the server");
            }
        }
    }

    @Override
    public RenewReply renew(RenewRequest request, long now) {
        RenewReply reply = decide(now, NOBODY, decision -> decision.renew(request));
        // Who does not ask how many wait is not told, as by the scripts.
        return reply instanceof RenewReply.Renewed renewed && !request.counted()
                ? new RenewReply.Renewed(0, renewed.atMostMillis())
                : reply;
    }

    @Override
    public ReleaseReply release(ReleaseRequest request, long notAfter, long now, Messenger messages) {
        if (request.requeue() != null) {
            throw new AssertionError("a permit that is handed on");
        }
        if (bug == PoolBug.RELEASE_AGAIN_SUBTRACTS_AGAIN && !holds(now).containsKey(request.holderId())) {
            record = new NameRecord(record.holds().stream().skip(1).toList(), record.queue());
        }
        List<Entry> later = List.of();
        if (bug == PoolBug.SERVING_STOPS_AFTER_ONE_GRANT && record.queue().size() > 1) {
            later = record.queue().subList(1, record.queue().size());
            record = new NameRecord(record.holds(), record.queue().subList(0, 1));
        }
        ReleaseReply reply = decide(now, messages, decision -> decision.release(request));
        if (!later.isEmpty()) {
            List<Entry> queue = new ArrayList<>(record.queue());
            queue.addAll(later);
            record = new NameRecord(record.holds(), queue);
        }
        return reply;
    }

    @Override
    public boolean abandon(String holderId, long now, Messenger messages) {
        if (bug == PoolBug.LEAVING_SERVES_NOBODY && waiting().contains(holderId)) {
            record = new NameRecord(
                    record.holds(),
                    record.queue().stream()
                            .filter(entry -> !entry.holderId().equals(holderId))
                            .toList());
            return false;
        }
        return decide(now, messages, decision -> decision.abandon(holderId));
    }

    @Override
    public ForceReply forceRelease(@Nullable String expected, long now, Messenger messages) {
        return decide(now, messages, decision -> decision.forceRelease(expected));
    }

    @Override
    public StoreState inspect(long now) {
        return decide(now, NOBODY, NameDecision::inspectPool);
    }

    /** In the order in which they were granted. */
    @Override
    public Map<String, Long> holds(long now) {
        Map<String, Long> holds = new LinkedHashMap<>();
        record.holds().stream()
                .filter(hold -> !hold.isOver(now))
                .forEach(hold -> holds.put(hold.holderId(), hold.base()));
        return holds;
    }

    @Override
    public List<String> waiting() {
        return record.queue().stream().map(Entry::holderId).toList();
    }

    @Override
    public boolean isFree(long now) {
        return record.isFree(now);
    }
}
