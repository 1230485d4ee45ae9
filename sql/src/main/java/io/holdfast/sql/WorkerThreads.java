package io.holdfast.sql;

import io.holdfast.spi.DaemonThreads;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import io.holdfast.spi.TimeSource;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Threads that run commands, each with a connection of its own: one at rest, more while commands wait. The thread that
 * has rested for the shortest time works next, so those that are not needed come to their end.
 *
 * <p>Renewals go first: a lease that is renewed too late is lost. They come in bursts and have time, so one thread serves
 * them as long as it keeps up.
 */
final class WorkerThreads implements Workers {

    private static final int MOST = 4;

    /** A command that has waited for so long gets another thread, if there may be one more. */
    private static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /** The same for a renewal. */
    private static final long RENEWAL_SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);

    /** A command that has waited for so long is not sent any more. */
    private static final long STALE_NANOS = TimeUnit.SECONDS.toNanos(4);

    private static final long CLOSE_MILLIS = 1_000;

    private record Command<T>(Task<T> task, boolean renewal, CompletableFuture<T> reply, long sinceNanos) {

        void fail(StoreException why) {
            reply.completeExceptionally(why);
        }
    }

    private final Connector connector;
    private final Runnable connecting;
    private final SqlErrors errors;
    private final TimeSource time;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition answered = lock.newCondition();
    private final ArrayDeque<Command<?>> renewals = new ArrayDeque<>(); // by lock
    private final ArrayDeque<Command<?>> others = new ArrayDeque<>(); // by lock
    private final List<Thread> threads = new ArrayList<>(); // by lock
    private final ArrayDeque<Condition> resting = new ArrayDeque<>(); // by lock; the thread that rests last is first
    private int renewing; // by lock; threads that run renewals
    private long startedNanos; // by lock; when a thread was started last
    private boolean closed; // by lock

    /** When the last command began of those that were answered. */
    private long answeredNanos; // by lock

    /** The connection of the opening, until a thread takes it. */
    private @Nullable Link first; // by lock

    /**
     * Makes the threads.
     *
     * @param connecting runs before a new connection takes a command, unless the others show that none was lost
     */
    WorkerThreads(Connector connector, Runnable connecting, SqlErrors errors, TimeSource time, Link first) {
        this.connector = connector;
        this.connecting = connecting;
        this.errors = errors;
        this.time = time;
        this.first = first;
        this.answeredNanos = time.nanoTime();
    }

    @Override
    public <T> CompletionStage<T> submit(Task<T> task, boolean renewal) {
        Command<T> command = new Command<>(task, renewal, new CompletableFuture<>(), time.nanoTime());
        boolean refused;
        boolean wait = false;
        lock.lock();
        try {
            refused = closed;
            if (!closed) {
                (renewal ? renewals : others).add(command);
                if (threads.isEmpty()) {
                    start();
                } else if (!resting.isEmpty() && (!renewal || (renewing == 0 && renewals.size() == 1))) {
                    wake();
                } else {
                    wait = !resting.isEmpty() || threads.size() < MOST;
                }
            }
        } finally {
            lock.unlock();
        }
        if (refused) {
            command.fail(errors.exception(Outcome.NOT_EXECUTED, "was closed by this client", null));
        } else if (wait) {
            helpLater(renewal ? RENEWAL_SLOW_NANOS : SLOW_NANOS);
        }
        return command.reply;
    }

    private void helpLater(long nanos) {
        var unused = time.schedule(nanos, this::helpIfSlow);
    }

    private void helpIfSlow() {
        boolean again = false;
        lock.lock();
        try {
            if (!closed && (waits(renewals.peek(), RENEWAL_SLOW_NANOS) || waits(others.peek(), SLOW_NANOS))) {
                if (!resting.isEmpty()) {
                    wake();
                } else if (time.nanoTime() - startedNanos < SLOW_NANOS) {
                    // One more is about to help.
                    again = true;
                } else if (threads.size() < MOST) {
                    start();
                }
            }
        } finally {
            lock.unlock();
        }
        if (again) {
            helpLater(SLOW_NANOS);
        }
    }

    private boolean waits(@Nullable Command<?> command, long nanos) {
        return command != null && time.nanoTime() - command.sinceNanos >= nanos;
    }

    /** By lock. */
    private void wake() {
        Condition last = resting.poll();
        if (last != null) {
            last.signal();
        }
    }

    /** By lock. */
    private void start() {
        startedNanos = time.nanoTime();
        Thread thread = DaemonThreads.unstarted("holdfast-sql", this::work);
        threads.add(thread);
        thread.start();
    }

    private void work() {
        Link link = null;
        try {
            while (true) {
                Command<?> command = next();
                if (command == null) {
                    return;
                }
                link = run(command, link);
                ran(command);
            }
        } finally {
            if (link != null) {
                link.close();
            }
            lock.lock();
            try {
                threads.remove(Thread.currentThread());
            } finally {
                lock.unlock();
            }
        }
    }

    /** Returns the next command; null if this thread is to end. One thread stays, and with it its connection. */
    private @Nullable Command<?> next() {
        lock.lock();
        try {
            Condition needed = lock.newCondition();
            long left = IDLE_NANOS;
            while (true) {
                Command<?> command = renewals.isEmpty() ? others.poll() : renewals.poll();
                if (command != null) {
                    renewing += command.renewal ? 1 : 0;
                    return command;
                }
                if (closed || (left <= 0 && threads.size() > 1)) {
                    return null;
                }
                resting.push(needed);
                try {
                    left = needed.awaitNanos(left > 0 ? left : IDLE_NANOS);
                } catch (InterruptedException e) {
                    // Nobody interrupts these threads but an application's own cleaning; the command goes on.
                } finally {
                    resting.remove(needed);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void ran(Command<?> command) {
        lock.lock();
        try {
            renewing -= command.renewal ? 1 : 0;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the connection for the next command; null if it is broken. */
    private <T> @Nullable Link run(Command<T> command, @Nullable Link link) {
        Link used = link;
        try {
            if (time.nanoTime() - command.sinceNanos > STALE_NANOS) {
                throw errors.exception(Outcome.NOT_EXECUTED, "did not answer in time to earlier commands", null);
            }
            if (used != null && used.isDead()) {
                used = closed(used);
            }
            if (used == null) {
                used = connect();
            }
            long began = time.nanoTime();
            long answers = used.answers();
            T reply = command.task.run(used);
            if (used.answers() != answers) {
                // Not after a command whose work another one has done: its connection may be dead.
                onAnswer(began);
            }
            command.reply.complete(reply);
            return used;
        } catch (SQLException e) {
            command.fail(errors.ofCommand(e));
            return errors.breaksConnection(e) ? closed(used) : used;
        } catch (StoreException e) {
            command.fail(e);
            return used;
        } catch (Throwable e) {
            // A defect of ours or of the driver. Without an answer, the engine would wait forever.
            command.reply.completeExceptionally(e);
            return closed(used);
        }
    }

    private Link connect() {
        lock.lock();
        try {
            Link link = first;
            if (link != null) {
                first = null;
                return link;
            }
        } finally {
            lock.unlock();
        }
        long began = time.nanoTime();
        Link link = connector.connect();
        if (!isAnsweredSince(began)) {
            connecting.run();
        }
        return link;
    }

    private void onAnswer(long beganNanos) {
        lock.lock();
        try {
            if (beganNanos - answeredNanos > 0) {
                answeredNanos = beganNanos;
                answered.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns whether another connection answers a command that was begun after this instant. Waits a moment for that.
     * A process that is restored from an image has lost all its connections: so this process was not, since that
     * connection was opened.
     */
    private boolean isAnsweredSince(long nanos) {
        lock.lock();
        try {
            long left = SLOW_NANOS;
            while (answeredNanos - nanos < 0) {
                // This thread is one of the busy ones.
                if (left <= 0 || threads.size() - resting.size() <= 1) {
                    return false;
                }
                left = answered.awaitNanos(left);
            }
            return true;
        } catch (InterruptedException e) {
            // Nobody interrupts these threads but an application's own cleaning; the command goes on.
            return false;
        } finally {
            lock.unlock();
        }
    }

    private static @Nullable Link closed(@Nullable Link link) {
        if (link != null) {
            link.close();
        }
        return null;
    }

    /** Runs what was submitted before, then closes the connections. Waits for that for a moment. */
    @Override
    public void close() {
        List<Thread> running;
        Link unused;
        lock.lock();
        try {
            closed = true;
            unused = first;
            first = null;
            running = List.copyOf(threads);
            resting.forEach(Condition::signal);
        } finally {
            lock.unlock();
        }
        closed(unused);
        for (Thread thread : running) {
            if (thread != Thread.currentThread()) {
                join(thread);
            }
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
