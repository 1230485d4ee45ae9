package io.holdfast.cli;

import io.holdfast.cli.process.Kill;
import io.holdfast.cli.process.ProcessTree;
import io.holdfast.cli.process.Signals;
import io.holdfast.cli.process.Terminal;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Stands between the signals that this process gets and the command it runs.
 *
 * <pre>
 *   CONNECTING → WAITING → RUNNING → ENDED      by the main thread
 *   CONNECTING: a signal ends this process at once: it holds nothing
 *   WAITING:    a signal interrupts the main thread, which withdraws from the queue
 *   RUNNING:    a signal is passed on; SIGTERM, and a lost lease, also start the countdown to SIGKILL
 *   ENDED:      signals are ignored: the lock is being released, which takes a bounded time
 * </pre>
 */
final class Supervisor implements AutoCloseable {

    private enum Phase {
        CONNECTING,
        WAITING,
        RUNNING,
        ENDED
    }

    private final Thread main = Thread.currentThread();
    private final Duration killAfter;
    private final Signals signals;

    private Phase phase = Phase.CONNECTING; // guarded by this
    private Signals.@Nullable Received waitEndedBy; // guarded by this
    private @Nullable Process child; // guarded by this
    private @Nullable ProcessTree stopping; // guarded by this; not null once the command has been told to stop
    private long killAtNanos; // guarded by this

    /** Made by the main thread. */
    Supervisor(Duration killAfter) {
        this.killAfter = killAfter;
        this.signals = Signals.receive(List.of("INT", "TERM", "HUP"), this::received);
    }

    @Override
    public void close() {
        signals.close();
    }

    synchronized void waiting() {
        phase = Phase.WAITING;
    }

    /** The signal that ended the wait, or that came after the wait and before the command was started; or null. */
    synchronized Signals.@Nullable Received waitEndedBy() {
        return waitEndedBy;
    }

    /** @return null if a signal was quicker; nothing is started then */
    synchronized @Nullable Process start(ProcessBuilder command) throws IOException {
        // Under the lock, so that a signal finds either no command or one that it can be passed on to.
        if (waitEndedBy != null) {
            return null;
        }
        child = command.start();
        phase = Phase.RUNNING;
        return child;
    }

    /** Waits for the command and, if it was told to stop, for what it has started. */
    int await(Process process) throws InterruptedException {
        while (true) {
            ProcessTree tree;
            long left;
            synchronized (this) {
                tree = stopping;
                left = killAtNanos - System.nanoTime();
            }
            if (tree == null) {
                // Looks up now and then: the command may be told to stop while it is waited for.
                if (process.waitFor(50, TimeUnit.MILLISECONDS) && end()) {
                    return process.exitValue();
                }
            } else {
                if (!tree.awaitEnd(Duration.ofNanos(Math.max(0, left)))) {
                    tree.kill();
                    tree.awaitEnd(Duration.ofSeconds(1));
                }
                end();
                return process.waitFor();
            }
        }
    }

    /** From now on signals are ignored. False if the command was told to stop meanwhile, so that there is more to do. */
    private synchronized boolean end() {
        if (phase == Phase.RUNNING && stopping != null) {
            phase = Phase.ENDED;
            return false;
        }
        phase = Phase.ENDED;
        return true;
    }

    /** The lock is gone: SIGTERM, and SIGKILL in due time. */
    void stop() {
        stop("TERM");
    }

    private void received(Signals.Received signal) {
        synchronized (this) {
            switch (phase) {
                case CONNECTING:
                    Runtime.getRuntime().halt(ExitCode.SIGNAL + signal.number());
                    return;
                case WAITING:
                    waitEndedBy = signal;
                    main.interrupt();
                    return;
                case ENDED:
                    return;
                case RUNNING:
                    break;
            }
        }
        switch (signal.name()) {
            case "INT":
                // Typed at the terminal, the command has it already; twice would end what wants to be asked twice. And
                // a program that lives with Ctrl-C (an editor, a shell) must not be killed for it.
                if (!Terminal.isForeground()) {
                    stop(signal.name());
                }
                break;
            case "HUP":
                pass(signal.name()); // for many programs: read the configuration again
                break;
            default:
                stop(signal.name());
        }
    }

    private void stop(String signal) {
        ProcessTree tree;
        synchronized (this) {
            if (child == null || phase != Phase.RUNNING) {
                return;
            }
            if (stopping == null) {
                killAtNanos = System.nanoTime() + killAfter.toNanos();
            }
            // A tree of its own for each thread that works on one.
            tree = new ProcessTree(child.toHandle());
            stopping = new ProcessTree(child.toHandle());
        }
        try {
            tree.signal(signal);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException("SIG" + signal + " could not be sent", e);
        }
    }

    private void pass(String signal) {
        Process process;
        synchronized (this) {
            process = child;
        }
        try {
            if (process != null && process.isAlive()) {
                Kill.send(signal, List.of(process.pid()));
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException("SIG" + signal + " could not be sent", e);
        }
    }
}
