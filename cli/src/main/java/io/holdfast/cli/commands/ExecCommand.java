package io.holdfast.cli.commands;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.Permits;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.spi.AcquireRequest;
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
        header = "Run a command while holding a lock or a permit.",
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

    @Option(
            names = "--permits",
            paramLabel = "N",
            description = "Take a permit instead of the lock: at most N are held at once. HOLDFAST_TOKEN does not fence"
                    + " then.")
    private @Nullable Integer limit;

    @Option(names = "--weight", paramLabel = "W", description = "Take W of these permits together; by default 1.")
    private @Nullable Integer weight;

    @Option(
            names = "--read",
            description =
                    "Take the read lock of this name: beside other readers, but no writer. HOLDFAST_TOKEN does not"
                            + " fence then.")
    private boolean read;

    @Option(names = "--write", description = "Take the write lock of this name: beside no reader and no other writer.")
    private boolean write;

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
        checkKind();
        try (Supervisor supervisor = new Supervisor(killAfter, false);
                LockClient client = options.open(options.client(), this::refuseHeldOutside, quiet)) {
            supervisor.waiting();
            return acquireAndRun(supervisor, client);
        }
    }

    private void checkKind() {
        if ((read ? 1 : 0) + (write ? 1 : 0) + (limit != null ? 1 : 0) > 1) {
            throw new CliException(
                    ExitCode.USAGE, "--permits, --read and --write exclude each other (expected: one of them)");
        }
        if (limit == null && weight != null) {
            throw new CliException(
                    ExitCode.USAGE, "--weight: " + weight + " without --permits (expected: --permits N, too)");
        }
        checkRange("--permits", limit, AcquireRequest.CAPACITY_MAX, "");
        checkRange("--weight", weight, limit == null ? 1 : limit, ", the number of --permits");
    }

    private static void checkRange(String option, @Nullable Integer value, int most, String why) {
        if (value != null && (value < 1 || value > most)) {
            throw new CliException(ExitCode.USAGE, option + ": " + value + " (expected: from 1 to " + most + why + ")");
        }
    }

    /** Returns the permits that the user asked for; null for the lock. */
    private @Nullable Permits permits(LockClient client) {
        return limit == null ? null : client.permits(name, limit).weight(weight == null ? 1 : weight);
    }

    private void refuseHeldOutside(LockClient client) {
        Permits permits = permits(client);
        if (permits != null) {
            Nesting.refuseHeldOutside(permits);
        } else if (read || write) {
            Nesting.refuseHeldOutside(client.getReadWriteLock(name), write);
        } else {
            Nesting.refuseHeldOutside(client, name);
        }
    }

    /** Names who holds the lock, or the permits, for a message. */
    private String holder(LockClient client) {
        Permits permits = permits(client);
        if (permits != null) {
            return Pool.holders(permits);
        }
        return read || write ? Pool.holders(client.getReadWriteLock(name)) : CommandOptions.holder(client, name);
    }

    private int acquireAndRun(Supervisor supervisor, LockClient client) throws InterruptedException {
        Optional<Lease> acquired;
        WaitNotes notes = new WaitNotes(io, name, () -> holder(client));
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
            throw new CliException(ExitCode.NOT_ACQUIRED, name + ": not acquired" + patience + ", " + holder(client));
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
        Duration patience = noWait ? Duration.ZERO : wait;
        if (patience == null) {
            return Optional.of(acquirePatiently(client));
        }
        LockOptions atMost =
                CommandOptions.withOptionNames(() -> LockOptions.defaults().waitAtMost(patience));
        Permits permits = permits(client);
        if (permits != null) {
            return permits.tryAcquire(atMost);
        }
        if (read) {
            return client.tryAcquireRead(name, atMost);
        }
        return write ? client.tryAcquireWrite(name, atMost) : client.tryAcquire(name, atMost);
    }

    private Lease acquirePatiently(LockClient client) throws InterruptedException {
        Permits permits = permits(client);
        if (permits != null) {
            return permits.acquire();
        }
        if (read) {
            return client.acquireRead(name);
        }
        return write ? client.acquireWrite(name) : client.acquire(name);
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
