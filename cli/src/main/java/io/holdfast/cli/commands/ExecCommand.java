package io.holdfast.cli.commands;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.cli.process.CommandPath;
import io.holdfast.cli.process.Signals;
import io.holdfast.cli.process.Terminal;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

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
                    + " command was stopped), 64 usage (such as a lock that an exec around this one holds), 69 store"
                    + " unavailable, 127 no such command, 126 not executable.",
            "If holdfast itself is killed by SIGKILL, the command runs on without it and the lock ends with its lease: to"
                    + " be safe from that, let the guarded resource refuse old fencing tokens."
        })
public final class ExecCommand implements Callable<Integer> {

    /** The longest name that a client may have. */
    private static final int CLIENT_NAME_MAX = 100;

    /**
     * For how long the opening of the store is tried again; as long as a waiting client tolerates a silent store. On a
     * busy machine one try may not be answered in time.
     */
    private static final Duration OPENING = Duration.ofSeconds(12);

    private static final Duration OPENING_PAUSE = Duration.ofMillis(500);

    private final Io io;
    private final List<String> args;
    private final AtomicBoolean lossTold = new AtomicBoolean();

    @Mixin
    private final StoreOption store = new StoreOption();

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
            names = "--lease",
            paramLabel = "TIME",
            defaultValue = "30s",
            converter = DurationConverter.class,
            description =
                    "After the death of this process the lock is free within this time; by default ${DEFAULT-VALUE}.")
    private Duration lease = Duration.ZERO;

    @Option(
            names = "--kill-after",
            paramLabel = "TIME",
            defaultValue = "10s",
            converter = DurationConverter.class,
            description = "How long a command may take to stop before it gets SIGKILL; by default ${DEFAULT-VALUE}.")
    private Duration killAfter = Duration.ZERO;

    @Option(
            names = "--pass-store",
            description = "Pass the store to the command in HOLDFAST_STORE, with its password, for a nested holdfast.")
    private boolean passStore;

    @Parameters(index = "0", paramLabel = "NAME", description = "The lock name.")
    private String name = "";

    @Parameters(index = "1..*", arity = "1..*", paramLabel = "COMMAND", description = "The command and its arguments.")
    private List<String> command = List.of();

    public ExecCommand(Io io, List<String> args) {
        this.io = io;
        this.args = args;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        checkArguments();
        try (Supervisor supervisor = new Supervisor(killAfter);
                LockClient client = connect()) {
            Nesting.refuseHeldOutside(client, name);
            supervisor.waiting();
            return acquireAndRun(supervisor, client);
        }
    }

    private void checkArguments() {
        // Without the two dashes an option of the command would be taken for an option of this program.
        if (args.size() - args.indexOf("--") - 1 != command.size() || !args.contains("--")) {
            throw new CliException(
                    ExitCode.USAGE,
                    "the command must follow two dashes (expected: holdfast exec [OPTIONS] NAME -- COMMAND [ARGS...])");
        }
        if (noWait && wait != null) {
            throw new CliException(ExitCode.USAGE, "-n and --wait exclude each other (expected: one of them)");
        }
        Arguments.checkText(command);
        Arguments.checkName(name);
        String program = command.get(0);
        switch (CommandPath.find(program, System.getenv("PATH"))) {
            case NOTHING -> throw new CliException(ExitCode.NOT_FOUND, program + ": command not found");
            case DIRECTORY -> throw new CliException(ExitCode.NOT_EXECUTABLE, program + ": is a directory");
            case NOT_EXECUTABLE -> throw new CliException(ExitCode.NOT_EXECUTABLE, program + ": permission denied");
            case EXECUTABLE -> {
                // what is wanted
            }
        }
    }

    private LockClient connect() throws InterruptedException {
        LockClient.Builder builder = store.client().clientName(clientName());
        withOptionNames(() -> builder.leaseTime(lease));
        long failedAt = 0;
        while (true) {
            try {
                return builder.build();
            } catch (LockStoreException e) {
                // From the first failure: what came before it may be the loading of classes.
                boolean first = failedAt == 0;
                failedAt = first ? System.nanoTime() : failedAt;
                if (e.isFatal() || System.nanoTime() - failedAt >= OPENING.toNanos()) {
                    throw e;
                }
                if (first && !quiet && Terminal.isStandardError()) {
                    io.complain(e.getMessage() + "; trying again for " + DurationConverter.format(OPENING));
                }
            }
            Thread.sleep(OPENING_PAUSE.toMillis());
        }
    }

    /** Tools show the command, which an operator knows, as the holder. */
    private String clientName() {
        String program = command.get(0);
        String shown = "exec " + program.substring(program.lastIndexOf('/') + 1);
        return shown.length() <= CLIENT_NAME_MAX ? shown : "exec";
    }

    private int acquireAndRun(Supervisor supervisor, LockClient client) throws IOException, InterruptedException {
        Optional<Lease> acquired;
        WaitNotes notes = new WaitNotes(io, name, () -> holder(client));
        if (!quiet) {
            notes.start();
        }
        try {
            acquired = acquire(client);
        } catch (InterruptedException e) {
            return stoppedBy(supervisor, e);
        } finally {
            notes.close();
        }
        if (acquired.isEmpty()) {
            String patience = wait == null || wait.isZero() ? "" : " within " + DurationConverter.format(wait);
            throw new CliException(ExitCode.NOT_ACQUIRED, name + ": not acquired" + patience + ", " + holder(client));
        }
        Lease held = acquired.get();
        try {
            int status = run(supervisor, held, client.inspect(name).holder().orElse(null));
            held.release();
            return status;
        } catch (LeaseLostException e) {
            reportLoss(e);
            return ExitCode.LEASE_LOST;
        } catch (RuntimeException | IOException e) {
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
                name, withOptionNames(() -> LockOptions.defaults().waitAtMost(limit)));
    }

    /** Names the holder for a message. The lock may have become free since the wait ended. */
    private String holder(LockClient client) {
        try {
            return client.inspect(name)
                    .holderTitle()
                    .map(holder -> "held by " + holder)
                    .orElse("free again by now");
        } catch (LockStoreException e) {
            return "the holder is unknown (" + e.getMessage() + ")";
        }
    }

    private int run(Supervisor supervisor, Lease held, @Nullable String holder)
            throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        Map<String, String> environment = builder.environment();
        environment.put("HOLDFAST_LOCK", name);
        environment.put("HOLDFAST_TOKEN", Long.toString(held.fencingToken()));
        Nesting.enter(holder, environment);
        environment.remove(StoreOption.VARIABLE);
        if (passStore) {
            environment.put(StoreOption.VARIABLE, store.uri());
        }
        Process process;
        try {
            process = supervisor.start(builder);
        } catch (IOException e) {
            // Found but not started: a script whose interpreter is missing, a binary of another machine.
            // "error=2, No such file", or from JDK 25 on "error: 2 (No such file)".
            String why = String.valueOf(e.getMessage()).replaceFirst("(?s).*error[=:] ?\\d+[, (]+(.*?)\\)?$", "$1");
            throw new CliException(ExitCode.NOT_EXECUTABLE, command.get(0) + ": cannot be run: " + why, e);
        }
        if (process == null) {
            return stoppedBy(supervisor, new InterruptedException());
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

    private static int stoppedBy(Supervisor supervisor, InterruptedException e) throws InterruptedException {
        Signals.Received signal = supervisor.waitEndedBy();
        if (signal == null) {
            throw e;
        }
        // The flag may be set still, and would disturb the release.
        Thread.interrupted();
        return ExitCode.SIGNAL + signal.number();
    }

    /** Checks made by the library speak of its methods; the user typed options. */
    private static <T> T withOptionNames(Supplier<T> setting) {
        try {
            return setting.get();
        } catch (IllegalArgumentException e) {
            String message = String.valueOf(e.getMessage())
                    .replaceFirst("^leaseTime:", "--lease:")
                    .replaceFirst("^waitAtMost:", "--wait:");
            throw new IllegalArgumentException(message, e);
        }
    }
}
