package io.holdfast;

import static java.lang.System.Logger.Level.WARNING;

import io.holdfast.spi.DaemonThreads;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.StageWait;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A candidate for one leadership: of all candidates for a name, at most one leads at a time. The candidate campaigns
 * until it is closed, and may lead for many terms.
 *
 * <pre>{@code
 * try (Leadership leadership = locks.leadership("billing", term -> scheduler.leadUntilInterrupted(term))) {
 *     server.serveUntilStopped();
 * }
 * }</pre>
 *
 * <p>The leader holds the lock {@code leader:NAME}, which its client renews. A term is <em>revoked</em> before the next
 * one can begin: at {@link #resign} and {@link #close}, when the lock is lost, and when renewals have failed for so
 * long that only {@link LeadershipOptions#stopWithin} is left of the lease. The listener then has that time to stop.
 * After an orderly revocation, the next candidate leads within milliseconds; after the death of the leader's process,
 * when its lease has run out.
 *
 * <p>Not promised: a process that is paused for longer than its lease is revoked only when it runs again, and another
 * process leads by then. So call {@link Term#ensureValid} before each effect, and pass the token on. The same holds for
 * a listener that does not stop in time; that is logged.
 *
 * <p>Two candidates of one client for one name take turns. Thread-safe.
 */
public final class Leadership implements AutoCloseable {

    /** Begins the name of the lock that the leader holds, for tools: {@code locks.inspect(LOCK_PREFIX + name)}. */
    public static final String LOCK_PREFIX = "leader:";

    /** A client that is closed in a call of the listener leaves the lock to the work that still runs. */
    private static final LockOptions LOCK = LockOptions.defaults().leftAtClose();

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);
    /** A term that lasted for this time ends a series of failures. */
    private static final Duration GOOD_TERM = Duration.ofMinutes(1);
    /** How long {@link #close} waits for the store, after the listener has stopped or had its time. */
    static final Duration RELEASE_TIME = Duration.ofSeconds(2);

    private final LockClient client;
    private final String name;
    private final LeadershipListener listener;
    private final Duration stopWithin;
    private final TimeSource time;
    private final LongUnaryOperator jitter;
    private final Executor thread;
    private final TermRun.Maker terms;

    /** The thread that calls the listener now. */
    private final AtomicReference<@Nullable Thread> calling = new AtomicReference<>();

    /** Completes when the candidate is closed, its lease is released and the listener's calls have returned. */
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    /**
     * Guards the fields below. Invariant: at most one of campaign, run and pause is set. Where none is, a call is on its
     * way to the next, and sees {@link #closed}. Never held while the client or a term is called.
     */
    private final ReentrantLock state = new ReentrantLock();

    private @Nullable CompletableFuture<Lease> campaign;
    private @Nullable TermRun run;
    private TimeSource.@Nullable Timer pause;
    private boolean closed;
    private Duration nextPause = FIRST_PAUSE;

    Leadership(
            LockClient client,
            String name,
            LeadershipListener listener,
            Duration stopWithin,
            TimeSource time,
            LongUnaryOperator jitter,
            @Nullable Executor thread,
            TermRun.Maker terms) {
        this.client = client;
        this.name = name;
        this.listener = listener;
        this.stopWithin = stopWithin;
        this.time = time;
        this.jitter = jitter;
        this.terms = terms;
        Executor own = thread == null ? oneThread() : thread;
        this.thread = task -> own.execute(() -> {
            calling.set(Thread.currentThread());
            try {
                task.run();
            } finally {
                calling.set(null);
            }
        });
    }

    /**
     * Returns an executor with one thread, which begins at the first election and stays: a listener that has returned
     * from {@code onElected} learns of the revocation even if the system has no more threads.
     */
    private Executor oneThread() {
        ExecutorService one =
                Executors.newFixedThreadPool(1, task -> DaemonThreads.unstarted("holdfast-leader-" + name, task));
        var unused = ended.thenRun(one::shutdown);
        return one;
    }

    /** Returns the name of the leadership. */
    public String name() {
        return name;
    }

    /** Returns whether this candidate leads now. Costs no command. */
    public boolean isLeader() {
        return term().isPresent();
    }

    /** Returns the present term of this candidate; empty if it does not lead, or no longer. Costs no command. */
    public Optional<Term> term() {
        TermRun now = run();
        return now != null && now.leads() ? Optional.of(now.term()) : Optional.empty();
    }

    /**
     * Returns the card of the client that leads, for people and tools. Empty if nobody leads, or if the leader has
     * written no card. Costs two commands. The card may be out of date when it is read.
     *
     * @throws LockStoreException if the store failed
     */
    public Optional<ClientCard> leader() {
        return client.inspect(LOCK_PREFIX + name).holderCard();
    }

    /**
     * Revokes the present term, if there is one, and returns at once. The candidate then campaigns again, behind those
     * that wait.
     */
    public void resign() {
        TermRun now = run();
        if (now != null) {
            now.revoke("it resigned");
        }
    }

    /**
     * Ends the candidacy. A term is revoked, and this method waits until its lock is released: for at most {@link
     * LeadershipOptions#stopWithin} and 2 seconds. A call from the listener does not wait. Idempotent. The client's
     * {@link LockClient#close} does the same for all its candidates.
     */
    @Override
    public void close() {
        closeAll(List.of(this));
    }

    /** Closes these candidates as {@link #close} does, together: their times to stop pass at once. */
    public static void closeAll(Collection<Leadership> candidates) {
        long began = TimeSource.system().nanoTime();
        candidates.forEach(Leadership::beginClose);
        candidates.forEach(each -> each.awaitClosed(began));
    }

    /** Begins the campaign. */
    void begin() {
        client.notifyListeners(each -> each.candidacyBegan(name));
        campaign();
    }

    /** Ends the candidacy, and returns at once. */
    void beginClose() {
        CompletableFuture<Lease> asking;
        TermRun now;
        boolean paused;
        state.lock();
        try {
            closed = true;
            asking = campaign;
            now = run;
            paused = pause != null;
            if (pause != null) {
                pause.cancel();
                pause = null;
            }
        } finally {
            state.unlock();
        }
        if (asking != null) {
            asking.cancel(false);
        }
        if (now != null) {
            now.revoke("it is closed");
        }
        if (paused) {
            ended.complete(null);
        }
    }

    /** Waits until the lock is released, for as long as {@link #close} says. The close began at this nano time. */
    private void awaitClosed(long began) {
        if (calling.get() == Thread.currentThread()) {
            return;
        }
        // An interrupt, which is often the reason to close, does not end the wait, nor the term's time to stop.
        Duration passed = Duration.ofNanos(TimeSource.system().nanoTime() - began);
        StageWait.awaitUninterruptibly(ended, stopWithin.plus(RELEASE_TIME).minus(passed));
    }

    /** Completes when the candidate is closed, and nothing of it is left. */
    CompletableFuture<Void> ended() {
        return ended;
    }

    private @Nullable TermRun run() {
        return TermRun.locked(state, () -> run);
    }

    /** Asks for the lock, at the beginning and after each term or pause. */
    private void campaign() {
        boolean done = TermRun.locked(state, () -> {
            pause = null;
            run = null;
            return closed;
        });
        if (done) {
            ended.complete(null);
            return;
        }
        CompletableFuture<Lease> asked =
                client.acquireAsync(LOCK_PREFIX + name, LOCK).toCompletableFuture();
        boolean late = TermRun.locked(state, () -> {
            campaign = asked;
            return closed;
        });
        if (late) {
            asked.cancel(false);
        }
        var unused = asked.whenComplete((lease, error) -> {
            if (error == null) {
                elected(lease);
            } else {
                failed(error);
            }
        });
    }

    private void elected(Lease lease) {
        TermRun now = terms.make(client, name, lease, listener, thread, time, stopWithin);
        boolean late = TermRun.locked(state, () -> {
            campaign = null;
            run = now;
            return closed;
        });
        var unused = now.over().thenAccept(failed -> over(now, failed));
        if (late) {
            now.revoke("it is closed");
        } else {
            now.begin();
        }
    }

    private void over(TermRun last, boolean failed) {
        state.lock();
        try {
            if (last.ledNanos() >= GOOD_TERM.toNanos()) {
                nextPause = FIRST_PAUSE;
            }
        } finally {
            state.unlock();
        }
        if (failed) {
            pause();
        } else {
            campaign();
        }
    }

    private void failed(Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        boolean done = TermRun.locked(state, () -> {
            campaign = null;
            closed |= cause instanceof LockClientClosedException;
            return closed;
        });
        if (done) {
            ended.complete(null);
            return;
        }
        Duration next = pause();
        LockClient.log(
                WARNING,
                "The campaign for the leadership \"" + name + "\" failed, and begins again in about "
                        + DurationText.rounded(next) + ": " + cause.getMessage(),
                null);
    }

    /** Begins the next campaign after a pause, which doubles from failure to failure. */
    private Duration pause() {
        boolean late;
        Duration length;
        state.lock();
        try {
            length = nextPause;
            nextPause = length.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? length.multipliedBy(2) : LONGEST_PAUSE;
            run = null;
            late = closed;
            if (!late) {
                pause = time.schedule(jitter.applyAsLong(length.toNanos()), this::campaign);
            }
        } finally {
            state.unlock();
        }
        if (late) {
            ended.complete(null);
        }
        return length;
    }

    /** Returns the name and whether this candidate leads, for logs. */
    @Override
    public String toString() {
        return "Leadership[" + name
                + term().map(now -> ", leads since token " + now.fencingToken()).orElse("") + "]";
    }
}
