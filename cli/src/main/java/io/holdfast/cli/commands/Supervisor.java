package io.holdfast.cli.commands;

import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.process.Kill;
import io.holdfast.cli.process.ProcessTree;
import io.holdfast.cli.process.Signals;
import io.holdfast.cli.process.Terminal;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Stands between the signals that this process gets and the command it runs.
 *
 * <pre>
 *   CONNECTING → WAITING → RUNNING → ENDED      by the thread that runs the command
 *                      ← again                  if it is to run again, and no signal has told it to stop
 *
 *   CONNECTING: a signal ends this process at once: it holds nothing
 *   WAITING:    the first signal interrupts the main thread, which withdraws from the queue
 *   RUNNING:    a signal is passed on; INT and TERM also start the countdown to SIGKILL
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

    /**
     * The signals that would end this process while its command runs on, beside INT, TERM and HUP. Java leaves QUIT,
     * ILL, FPE, SEGV, KILL and STOP to nobody, and does not know the real-time signals.
     */
    private static final List<String> RARE_SIGNALS =
            List.of("USR1", "USR2", "ALRM", "VTALRM", "PROF", "XCPU", "XFSZ", "IO", "PWR", "STKFLT", "ABRT");

    /** How long the system may take to end a process after SIGKILL. */
    private static final Duration DYING = Duration.ofSeconds(1);

    private final Thread main = Thread.currentThread();
    private final Duration killAfter;
    private final boolean again;
    private final Signals signals;

    private Phase phase = Phase.CONNECTING; // guarded by this
    private Signals.@Nullable Received waitEndedBy; // guarded by this
    private @Nullable Process child; // guarded by this; not null in RUNNING
    private @Nullable ProcessTree tree; // guarded by this; not null in RUNNING
    private @Nullable Thread killer; // guarded by this; not null once the command has been told to stop
    private boolean toldToEnd; // guarded by this; whether a signal has asked for the end of this process, too

    /**
     * Made by the main thread.
     *
     * @param again whether the next command may follow one that was told to stop. Then a signal for the command, such as
     *     USR1, is ignored while none runs
     */
    Supervisor(Duration killAfter, boolean again) {
        this.killAfter = killAfter;
        this.again = again;
        this.signals = Signals.receive(List.of("INT", "TERM", "HUP"), RARE_SIGNALS, this::received);
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

    /**
     * Starts the command. Under the lock, so that a signal finds either no command or one that it can be passed on to.
     *
     * @return null if a signal was quicker; nothing is started then
     */
    synchronized @Nullable Process start(ProcessBuilder command) throws IOException {
        if (waitEndedBy != null) {
            return null;
        }
        Process started = command.start();
        child = started;
        tree = new ProcessTree(started.toHandle());
        phase = Phase.RUNNING;
        return started;
    }

    /** Waits for the command and, after a stop, for the processes that the command started. */
    int await(Process process) throws InterruptedException {
        int status = awaitEnd(process);
        synchronized (this) {
            phase = Phase.ENDED;
        }
        return status;
    }

    /**
     * Waits as {@link #await} does, and then for the next start, if the command ends because {@link #stop} told it to.
     *
     * @return the status of a command that ended by itself, or because of a signal to this process; otherwise empty
     */
    OptionalInt awaitStopped(Process process) throws InterruptedException {
        int status = awaitEnd(process);
        synchronized (this) {
            if (killer == null || toldToEnd) {
                phase = Phase.ENDED;
                return OptionalInt.of(status);
            }
            phase = Phase.WAITING;
            child = null;
            tree = null;
            killer = null;
            return OptionalInt.empty();
        }
    }

    private int awaitEnd(Process process) throws InterruptedException {
        int status = process.waitFor();
        Thread countdown;
        synchronized (this) {
            countdown = killer;
        }
        if (countdown != null) {
            countdown.join();
        }
        return status;
    }

    private void received(Signals.Received signal) {
        // Typed at the terminal, the command has it already; twice would end what wants to be asked twice. And a
        // program
        // that lives with Ctrl-C (an editor, a shell) must not be killed for it.
        boolean typed = signal.name().equals("INT") && Terminal.isForeground();
        boolean stops;
        synchronized (this) {
            if (phase == Phase.CONNECTING) {
                Runtime.getRuntime().halt(ExitCode.SIGNAL + signal.number());
            }
            if (again && phase == Phase.WAITING && RARE_SIGNALS.contains(signal.name())) {
                return;
            }
            if (phase == Phase.WAITING && waitEndedBy == null) { // the first one: what follows it must be left in peace
                waitEndedBy = signal;
                main.interrupt();
            }
            if (phase != Phase.RUNNING) {
                return;
            }
            stops = signal.name().equals("TERM") || (signal.name().equals("INT") && !typed);
            // Typed while the command is being stopped, it says that no next one is wanted.
            toldToEnd |= stops || (typed && killer != null);
        }
        if (stops) {
            stop(signal.name());
        } else if (!typed) {
            // No stop: what they mean is for the command to say. HUP often means to read the configuration again, and
            // USR1 to open the log again.
            passOn(signal.number());
        }
    }

    /**
     * Tells the command, and what it has started, to stop. The first time also starts the countdown to SIGKILL. A
     * command that has ended by itself is left alone, as is what it leaves behind.
     */
    void stop(String signal) {
        ProcessTree all;
        synchronized (this) {
            if (tree == null || child == null || phase != Phase.RUNNING || (killer == null && !child.isAlive())) {
                return;
            }
            all = tree;
            if (killer == null) {
                // The names of all processes are taken down now: those of an ended parent cannot be found later.
                all.look();
                killer = new Thread(() -> killInDueTime(all), "holdfast-kill-after");
                killer.setDaemon(true);
                killer.start();
            }
        }
        try {
            all.signal(signal);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException("SIG" + signal + " could not be sent", e);
        }
    }

    private void killInDueTime(ProcessTree all) {
        try {
            if (!all.awaitEnd(killAfter)) {
                all.kill();
                all.awaitEnd(DYING);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // nobody does
        }
    }

    private void passOn(int signal) {
        Process process;
        synchronized (this) {
            process = child;
        }
        try {
            if (process != null && process.isAlive()) {
                Kill.send(Integer.toString(signal), List.of(process.pid()));
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException("Signal " + signal + " could not be sent", e);
        }
    }
}
