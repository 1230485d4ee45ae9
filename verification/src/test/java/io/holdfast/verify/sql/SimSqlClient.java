package io.holdfast.verify.sql;

import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import io.holdfast.sql.VerifySql;
import io.holdfast.verify.engine.ForwardingStore;
import io.holdfast.verify.engine.SimSite;
import io.holdfast.verify.engine.SimTime;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** What one process has of the database: the real store, and in place of its threads a queue of commands. */
final class SimSqlClient implements SimSite.Link, VerifySql.Running {

    private static final int SESSIONS = 4;
    private static final long SLOW_NANOS = 50_000_000;
    private static final long STALE_NANOS = 4_000_000_000L;
    private static final long LISTEN_AGAIN_NANOS = 1_000_000_000;

    /** A command that has waited for so long has met a server that does not answer. */
    private record Queued<T>(VerifySql.Command<T> command, CompletableFuture<T> reply, long sinceNanos) {}

    private final SimDatabase database;
    private final SimFibers fibers;
    private final SimTime time;
    private final SplittableRandom random;
    private final VerifySql real;
    private final LockStore store;
    private final ArrayDeque<Queued<?>> renewals = new ArrayDeque<>();
    private final ArrayDeque<Queued<?>> others = new ArrayDeque<>();
    private final ArrayDeque<SimSession> idle = new ArrayDeque<>();
    private final List<SimSession> busy = new ArrayList<>();

    /** Holds that stayed when the client was closed. It knows of them until it is gone, as nobody ends them. */
    private final Set<String> leftAtClose = new HashSet<>();

    private boolean listening = true;
    private long heardNanos;
    private boolean died;

    /** The connection with which the store was opened is there: each later one may follow a lost one. */
    private boolean opened;

    SimSqlClient(
            SimDatabase database,
            SimFibers fibers,
            String clientId,
            SimTime time,
            SplittableRandom random,
            boolean notifies) {
        this.database = database;
        this.fibers = fibers;
        this.time = time;
        this.random = random;
        SplittableRandom draws = random.split();
        this.real = new VerifySql(new StoreContext(clientId, time), this, notifies, draws::nextLong);
        this.store = new WithoutCards(real.store(), leftAtClose);
        database.listen(clientId, this::note);
        purgeLater();
    }

    // --- commands ---

    @Override
    public <T> CompletionStage<T> submit(VerifySql.Command<T> command, boolean renewal) {
        Queued<T> queued = new Queued<>(command, new CompletableFuture<>(), time.nanoTime());
        (renewal ? renewals : others).add(queued);
        time.schedule(0, this::startOne);
        return queued.reply();
    }

    private @Nullable Queued<?> next() {
        Queued<?> first = renewals.peek();
        return first == null ? others.peek() : first;
    }

    private void startOne() {
        Queued<?> queued = next();
        if (queued == null) {
            return;
        }
        SimSession session = null;
        while (session == null && !idle.isEmpty()) {
            SimSession some = idle.poll();
            // The driver knows of an end that it has met; of others it learns by the next statement.
            session = some.isClosed() && !some.hasLastWords() ? null : some;
        }
        long waited = time.nanoTime() - queued.sinceNanos();
        if (session == null && !busy.isEmpty() && (busy.size() >= SESSIONS || waited < SLOW_NANOS)) {
            if (busy.size() < SESSIONS) {
                time.schedule(SLOW_NANOS - waited + 1, this::startOne);
            }
            return;
        }
        (renewals.isEmpty() ? others : renewals).poll();
        start(queued, session);
    }

    private <T> void start(Queued<T> queued, @Nullable SimSession open) {
        if (time.nanoTime() - queued.sinceNanos() > STALE_NANOS) {
            finish(queued, open, null, new StoreException(Outcome.NOT_EXECUTED, "no answer to earlier commands", null));
            return;
        }
        if (open == null && database.isDown()) {
            finish(queued, null, null, new StoreException(Outcome.NOT_EXECUTED, "cannot be connected to", null));
            return;
        }
        SimSession session;
        if (open == null) {
            session = new SimSession(database, fibers, time, random.split());
            if (opened) {
                real.connecting();
            }
            opened = true;
        } else {
            session = open;
        }
        busy.add(session);
        boolean atOnce = random.nextDouble() >= database.troubles.slow && database.isAtRest() && !session.isClosed();
        if (atOnce && random.nextDouble() >= database.troubles.cuts) {
            run(queued, session);
        } else {
            fibers.run(() -> run(queued, session));
        }
    }

    private <T> void run(Queued<T> queued, SimSession session) {
        T answer = null;
        Throwable failure = null;
        try {
            answer = queued.command().run(session);
        } catch (SQLException e) {
            failure = real.failure(e);
            if (VerifySql.breaksConnection(e) && !session.isClosed()) {
                session.close();
            }
        } catch (StoreException e) {
            failure = e;
        } catch (RuntimeException e) {
            throw new AssertionError("a command failed", e);
        }
        T result = answer;
        Throwable why = failure;
        if (fibers.current() == null) {
            finish(queued, session, result, why);
        } else {
            time.schedule(0, () -> finish(queued, session, result, why));
        }
    }

    private <T> void finish(
            Queued<T> queued, @Nullable SimSession session, @Nullable T answer, @Nullable Throwable why) {
        if (session != null) {
            busy.remove(session);
            idle.add(session);
        }
        if (why != null) {
            queued.reply().completeExceptionally(why);
        } else {
            queued.reply().complete(answer);
        }
        if (next() != null) {
            time.schedule(0, this::startOne);
        }
    }

    // --- messages ---

    private void note(String text) {
        heardNanos = Math.max(heardNanos, database.world.nanoTime() + random.nextLong(database.troubles.delayNanosMax));
        database.world.schedule(
                heardNanos - database.world.nanoTime(),
                () -> time.deliver(() -> {
                    if (listening) {
                        real.deliver(text);
                    }
                }));
    }

    private void deaf() {
        if (listening) {
            listening = false;
            listenLater();
        }
    }

    private void listenLater() {
        time.schedule(random.nextLong(LISTEN_AGAIN_NANOS), () -> {
            if (database.isDown()) {
                listenLater();
            } else {
                listening = true;
                real.reconnected();
            }
        });
    }

    private void purgeLater() {
        time.schedule(random.nextLong(database.purgeNanos), () -> {
            if (random.nextInt(4) == 0) {
                real.purge();
            }
            purgeLater();
        });
    }

    // --- the process ---

    @Override
    public LockStore store() {
        return store;
    }

    @Override
    public boolean isQuiet() {
        return busy.isEmpty() && next() == null;
    }

    /** Its connections end, all of them. */
    @Override
    public void breakConnection() {
        List.copyOf(busy).forEach(SimSession::broken);
        List.copyOf(idle).forEach(SimSession::broken);
        deaf();
    }

    boolean hasDied() {
        return died;
    }

    /** The server has ended its sessions. */
    void serverEnded() {
        time.deliver(this::deaf);
    }

    @Override
    public void die(boolean silently) {
        died = true;
        if (!silently) {
            busy.forEach(SimSession::serverEnds);
            idle.forEach(SimSession::serverEnds);
        } else {
            busy.forEach(SimSession::broken);
        }
    }

    @Override
    public String left() {
        Set<String> left = real.left();
        left.removeAll(leftAtClose);
        return left.isEmpty() ? "" : "taken to hold or wait: " + left;
    }

    /** The store as it is, without the cards: they are of no account for locks. */
    private static final class WithoutCards extends ForwardingStore {

        private final Set<String> leftAtClose;

        WithoutCards(LockStore all, Set<String> leftAtClose) {
            super(all);
            this.leftAtClose = leftAtClose;
        }

        @Override
        public boolean canAcquireAll(List<String> names) {
            return real.canAcquireAll(names);
        }

        @Override
        public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
            return real.acquireAll(requests);
        }

        @Override
        public void renewAll(List<RenewRequest> requests, RenewAnswers answers) {
            real.renewAll(requests, answers);
        }

        @Override
        public Optional<LockStore> pools() {
            return real.pools();
        }

        @Override
        public void leave(String name, String holderId, BooleanSupplier inUse) {
            leftAtClose.add(holderId);
            real.leave(name, holderId, inUse);
        }
    }
}
