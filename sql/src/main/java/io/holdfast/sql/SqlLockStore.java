package io.holdfast.sql;

import static java.util.stream.Collectors.toMap;

import io.holdfast.record.NameDecision;
import io.holdfast.record.NameRecord;
import io.holdfast.record.NameRecord.Entry;
import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.Finding;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreHealth;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The commands of the SPI on the table: of locks, or in the view of pools. */
final class SqlLockStore implements LockStore {

    /** A longer queue makes each poll expensive. A later waiter gets no place, and polls. */
    private static final int QUEUE_MOST = 256;

    /** {@link Link#LATE_MICROS}, a statement's longest round trip, and what the clocks differ in that time. */
    private static final Duration LATENESS = Duration.ofSeconds(8);

    private final SqlParts parts;
    private final Commands commands;
    private final LockTable table;
    private final Workers workers;
    private final Renewals renewals;
    private final TogetherTake together;
    private final Gathering<AcquireRequest, AcquireReply> takes;
    private final Gathering<Ending, ReleaseReply> releases;

    /** The end of a hold whose base is known. */
    private record Ending(ReleaseRequest request, Holds.Held held) {}

    /** The view of the pools; null in that view. */
    private final @Nullable SqlLockStore pools;

    private SqlLockStore(SqlParts parts, @Nullable SqlLockStore pools) {
        this.parts = parts;
        this.pools = pools;
        this.table = parts.table();
        this.workers = parts.workers();
        this.commands = new Commands(table, parts.errors(), pools == null, parts.random());
        this.together = new TogetherTake(commands, parts.errors());
        this.renewals = new Renewals(parts, commands, pools == null);
        this.takes = new Gathering<>(workers, parts.errors(), this::acquire, this::takeAll);
        this.releases = new Gathering<>(
                workers,
                parts.errors(),
                (link, ending) -> release(link, ending.request(), ending.held()),
                this::releaseAll);
    }

    static SqlLockStore of(SqlParts parts) {
        return new SqlLockStore(parts, new SqlLockStore(parts, null));
    }

    /** Returns whether a transaction of the user can lock the row of a lock without keeping it from its renewals. */
    boolean hasGuard() {
        return !isPool() && parts.settings().kind() == SqlSettings.Kind.POSTGRESQL;
    }

    /** Returns whether clients learn by NOTIFY. */
    boolean sendsMessages() {
        return parts.settings().notifies();
    }

    Places places() {
        return parts.places();
    }

    private boolean isPool() {
        return pools == null;
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        StoreException refusal = NameDecision.refusal(request, isPool(), describe());
        if (refusal != null) {
            return CompletableFuture.failedFuture(refusal);
        }
        return parts.messages()
                .start()
                .thenCompose(
                        heard -> isPool() ? workers.submit(link -> acquire(link, request)) : takes.submit(request));
    }

    private Map<AcquireRequest, AcquireReply> takeAll(Link link, List<AcquireRequest> requests) throws SQLException {
        Map<LockTable.Wanted, AcquireRequest> wanted = new LinkedHashMap<>();
        requests.forEach(request -> wanted.put(
                new LockTable.Wanted(commands.key(request.name()), request.holderId(), request.leaseMillis()),
                request));
        Map<AcquireRequest, AcquireReply> replies = new HashMap<>();
        table.takeAll(link, List.copyOf(wanted.keySet())).forEach((taken, base) -> {
            AcquireRequest request = Objects.requireNonNull(wanted.get(taken));
            granted(request, base, 0);
            replies.put(request, new AcquireReply.Granted(base, 0));
        });
        return replies;
    }

    private AcquireReply acquire(Link link, AcquireRequest request) throws SQLException {
        String name = request.name();
        String key = commands.key(name);
        Row row = request.queue() && !isPool() ? link.justWritten(key) : null;
        if (row == null && !isPool()) {
            LockTable.Taken taken = table.take(link, key, request.holderId(), request.leaseMillis());
            if (taken == null) {
                commands.make(link, name);
                taken = table.take(link, key, request.holderId(), request.leaseMillis());
            }
            if (taken != null && taken.base() > 0) {
                granted(request, taken.base(), 0);
                return new AcquireReply.Granted(taken.base(), 0);
            }
            row = taken == null ? null : taken.row();
        }
        Commands.Decided<AcquireReply> decided = null;
        if (row != null) {
            AcquireReply waits = append(link, key, row, request);
            if (waits != null) {
                return noted(request, waits, row);
            }
            decided = commands.decide(link, name, row, decision -> decision.acquire(placed(decision, request)));
        }
        if (decided == null) {
            decided = commands.decideMaking(link, name, decision -> decision.acquire(placed(decision, request)));
        }
        return noted(request, decided.reply(), decided.row());
    }

    /**
     * Adds a request to the queue of a lock in which somebody waits: so the holder knows of a waiter. Returns null if that
     * is to be decided otherwise.
     */
    private AcquireReply.@Nullable Busy append(Link link, String key, Row row, AcquireRequest request)
            throws SQLException {
        List<Entry> queue = QueueText.entries(request.name(), row.queue());
        long now = row.nowMicros() * 1_000;
        boolean waited = !queue.isEmpty() && queue.get(queue.size() - 1).isAlive(now);
        if (isPool() || !request.queue() || row.isOver() || !waited || queue.size() >= QUEUE_MOST) {
            return null;
        }
        Row after = table.append(link, key, row, new Entry(request, now));
        if (after == null) {
            return null;
        }
        long left = Math.max(1, (after.endMicros() - after.nowMicros()) / 1_000);
        long alive = QueueText.entries(request.name(), after.queue()).stream()
                .filter(entry -> entry.isAlive(after.nowMicros() * 1_000))
                .count();
        return new AcquireReply.Busy(left, (int) Math.max(0, alive - 1), after.holder());
    }

    /** Returns the request, without the queue if that is full. */
    private AcquireRequest placed(NameDecision decision, AcquireRequest request) {
        NameRecord now = decision.after();
        boolean full = request.queue()
                && now.queue().size() >= QUEUE_MOST
                && now.queue().stream().noneMatch(entry -> entry.holderId().equals(request.holderId()));
        return full ? request.unqueued() : request;
    }

    /** Takes note of what became of an acquisition, and returns the reply. */
    private AcquireReply noted(AcquireRequest request, AcquireReply reply, Row row) {
        if (reply instanceof AcquireReply.Granted granted) {
            granted(request, granted.base(), isPool() ? row.contended() : 0);
        } else if (reply instanceof AcquireReply.Busy busy && request.queue()) {
            parts.holds().waits(request.holderId());
            parts.messages().waiting(request, isPool(), row, busy.ahead());
        }
        return reply;
    }

    private void granted(AcquireRequest request, long base, long contended) {
        parts.messages().served(request.holderId());
        String key = commands.key(request.name());
        parts.holds().put(new Holds.Held(request.name(), key, request.holderId(), isPool(), base, contended));
    }

    @Override
    public boolean canAcquireAll(List<String> names) {
        return !isPool();
    }

    @Override
    public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
        return parts.messages()
                .start()
                .thenCompose(heard -> workers.submit(link -> {
                    AcquireAllReply reply = together.take(link, requests);
                    for (int i = 0; i < reply.granted().size(); i++) {
                        granted(requests.get(i), reply.granted().get(i).base(), 0);
                    }
                    return reply;
                }));
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return RenewAnswers.single(answers -> renewAll(List.of(request), answers));
    }

    @Override
    public void renewAll(List<RenewRequest> requests, RenewAnswers answers) {
        renewals.send(requests, answers);
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        // Before the statement: a look at the row must not miss a hold that this client has ended itself.
        Holds.Held held = parts.holds().end(commands.key(request.name()), request.holderId());
        return held == null || isPool() || request.requeue() != null
                ? workers.submit(link -> release(link, request, held))
                : releases.submit(new Ending(request, held));
    }

    private Map<Ending, ReleaseReply> releaseAll(Link link, List<Ending> endings) throws SQLException {
        Set<Holds.Held> released =
                table.releaseAll(link, endings.stream().map(Ending::held).toList());
        return endings.stream()
                .filter(ending -> released.contains(ending.held()))
                .collect(toMap(ending -> ending, ending -> ReleaseReply.released(), (one, other) -> one));
    }

    private ReleaseReply release(Link link, ReleaseRequest request, Holds.@Nullable Held held) throws SQLException {
        String name = request.name();
        String key = commands.key(name);
        AcquireRequest requeue = request.requeue();
        Row row = null;
        if (held != null && requeue == null && !isPool()) {
            LockTable.Written released = table.release(link, key, held.base(), request.holderId());
            if (released.done()) {
                return ReleaseReply.released();
            }
            row = released.found();
        }
        Commands.Decided<ReleaseReply> decided =
                commands.decide(link, name, row, decision -> decision.release(request));
        if (decided == null || !decided.reply().wasHeld()) {
            link.requireSameSession();
            return ReleaseReply.notHeld();
        }
        AcquireReply requeued = decided.reply().requeued();
        if (requeue != null && requeued != null) {
            noted(requeue, requeued, decided.row());
        }
        return decided.reply();
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        // Whatever becomes of the command: the id is of no use to this client any more.
        parts.messages().served(holderId);
        parts.holds().end(commands.key(name), holderId);
        return workers.submit(link -> {
            Commands.Decided<Boolean> decided =
                    commands.decide(link, name, null, decision -> decision.abandon(holderId));
            return decided != null && decided.reply();
        });
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return workers.submit(link -> {
            Row row = table.read(link, commands.key(name));
            if (row == null) {
                return StoreState.free(0);
            }
            if (!isPool() && row.isOver() && table.isGuarded(link, commands.key(name), row.base())) {
                return RowRecord.guarded(name, row, NameDecision::inspectLock).reply();
            }
            return new RowRecord<>(
                            name, isPool(), row, isPool() ? NameDecision::inspectPool : NameDecision::inspectLock)
                    .reply();
        });
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return workers.submit(link -> {
            Commands.Decided<ForceReply> decided =
                    commands.decide(link, name, null, decision -> decision.forceRelease(holder));
            if (decided == null || !(decided.reply() instanceof ForceReply.Ended)) {
                link.requireSameSession();
            }
            return decided == null ? new ForceReply.Free() : decided.reply();
        });
    }

    @Override
    public Duration lateness() {
        return LATENESS;
    }

    @Override
    public Duration recovery() {
        return parts.settings().recovery();
    }

    @Override
    public CompletionStage<StoreHealth> health(String name) {
        return inspect(name).thenApply(state -> new StoreHealth(true, Map.of("database", describe())));
    }

    @Override
    public CompletionStage<List<Finding>> diagnose(String name) {
        return workers.submit(link -> parts.diagnosis().of(link, commands.key(name)));
    }

    @Override
    public Optional<CardStore> cards() {
        return isPool() ? Optional.empty() : Optional.of(parts.cards());
    }

    @Override
    public Optional<LockStore> pools() {
        return Optional.ofNullable(pools);
    }

    @Override
    public void listen(StoreListener listener) {
        if (isPool()) {
            parts.receivers().pools = listener;
        } else {
            parts.receivers().locks = listener;
        }
    }

    @Override
    public String describe() {
        return parts.settings().shown();
    }

    @Override
    public void close() {
        if (!isPool()) {
            parts.close();
        }
    }
}
