package io.holdfast.cli.commands;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast exec}: flock(1) across machines. */
@Command(
        name = "exec",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisHeading = "%nUsage: ",
        header = "Run a command while holding a lock.",
        customSynopsis = "holdfast exec [OPTIONS] NAME -- COMMAND [ARGS...]%n",
        description = {
            "Exits with the command's exit code. The lock is renewed while the command runs and released when it ends."
                    + " The command finds the name in HOLDFAST_LOCK and the fencing token in HOLDFAST_TOKEN, but not HOLDFAST_STORE, which may have a"
                    + " password in it. Signals are passed on, except SIGQUIT and real-time signals, which Java cannot"
                    + " receive: use STOPSIGNAL SIGTERM in an image.",
            "",
            "TIME is a number of seconds, or a number with a unit: 500ms, 10s, 2m, 1h, 1d.",
            ""
        },
        footer = {
            "",
            "Exit codes: that of the command; 75 not acquired in time (the command did not run), 76 lease lost (the"
                    + " command was stopped), 64 usage (such as a lock that a holdfast around this one holds), 69 store"
                    + " unavailable, 127 no such command, 126 not executable.",
            "If holdfast itself is killed by SIGKILL, the command runs on without it and the lock ends with its lease: to"
                    + " be safe from that, let the guarded resource refuse old fencing tokens."
        })
public final class ExecCommand implements Callable<Integer> {

    private final Io io;
    private final AtomicBoolean lossTold = new AtomicBoolean();

    @Mixin
    private final CommandOptions options;

    @Option(
            names = {"-w", "--wait"},
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "How long to wait for the lock; 0 means one attempt. Without it: as long as needed.")
    private @Nullable Duration wait;

    @Option(
            names = {"-n", "--nonblock"},
            description = "Do not wait: the same as --wait 0.")
    private boolean noWait;

    @Option(
            names = {"-q", "--quiet"},
            description = "Do not say while waiting who holds the lock.")
    private boolean quiet;

    @Option(
            names = "--kill-after",
            paramLabel = "TIME",
            defaultValue = "10s",
            converter = DurationConverter.class,
            description = "How long a command may take to stop before it gets SIGKILL; by default ${DEFAULT-VALUE}.")
    private Duration killAfter = Duration.ZERO;

    private String name = "";

    public ExecCommand(Io io, List<String> args) {
        this.io = io;
        this.options = new CommandOptions("exec", io, args);
    }

    @Override
    public Integer call() throws InterruptedException {
        if (noWait && wait != null) {
            throw new CliException(ExitCode.USAGE, "-n and --wait exclude each other (expected: one of them)");
        }
        name = options.name();
        options.check(name);
        try (Supervisor supervisor = new Supervisor(killAfter, false);
                LockClient client = options.open(options.client(), name, quiet)) {
            supervisor.waiting();
            return acquireAndRun(supervisor, client);
        }
    }

    private int acquireAndRun(Supervisor supervisor, LockClient client) throws InterruptedException {
        Optional<Lease> acquired;
        WaitNotes notes = new WaitNotes(io, name, () -> CommandOptions.holder(client, name));
        if (!quiet) {
            notes.start();
        }
        try {
            acquired = acquire(client);
        } catch (InterruptedException e) {
            return CommandOptions.stoppedBy(supervisor, e);
        } finally {
            notes.close();
        }
        if (acquired.isEmpty()) {
            String patience = wait == null || wait.isZero() ? "" : " within " + DurationConverter.format(wait);
            throw new CliException(
                    ExitCode.NOT_ACQUIRED,
                    name + ": not acquired" + patience + ", " + CommandOptions.holder(client, name));
        }
        Lease held = acquired.get();
        try {
            int status = run(supervisor, held);
            held.release();
            return status;
        } catch (LeaseLostException e) {
            reportLoss(e);
            return ExitCode.LEASE_LOST;
        } catch (RuntimeException e) {
            held.release();
            throw e;
        }
    }

    /** Reports the loss once: the callback or the release after the command may find it first. */
    private void reportLoss(RuntimeException reason) {
        if (!lossTold.getAndSet(true)) {
            io.complain(name + ": lease lost, the command was not protected to its end (" + reason.getMessage() + ")");
        }
    }

    private Optional<Lease> acquire(LockClient client) throws InterruptedException {
        Duration limit = noWait ? Duration.ZERO : wait;
        if (limit == null) {
            return Optional.of(client.acquire(name));
        }
        return client.tryAcquire(
                name,
                CommandOptions.withOptionNames(() -> LockOptions.defaults().waitAtMost(limit)));
    }

    private int run(Supervisor supervisor, Lease held) throws InterruptedException {
        Process process = options.start(supervisor, name, held.fencingToken(), held.holderId());
        if (process == null) {
            return CommandOptions.stoppedBy(supervisor, new InterruptedException());
        }
        held.onLost(() -> {
            try {
                held.ensureValid();
            } catch (LeaseLostException e) {
                reportLoss(e);
            }
            supervisor.stop("TERM");
        });
        return supervisor.await(process);
    }
}
