package io.holdfast.cli.commands;

import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.process.CommandPath;
import io.holdfast.cli.process.Signals;
import io.holdfast.cli.process.Terminal;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What {@code exec} and {@code leader} have in common: a command that they run while they hold a lock of their store. */
final class CommandOptions {

    /** The longest name that a client may have. */
    private static final int CLIENT_NAME_MAX = 100;

    /**
     * For how long the opening of the store is tried again; as long as a waiting client tolerates a silent store. On a
     * busy machine one try may not be answered in time.
     */
    private static final Duration OPENING = Duration.ofSeconds(12);

    private static final Duration OPENING_PAUSE = Duration.ofMillis(500);

    private final String verb;
    private final Io io;
    private final List<String> args;

    @Mixin
    private final StoreOption store = new StoreOption();

    @Option(
            names = "--lease",
            paramLabel = "TIME",
            defaultValue = "30s",
            converter = DurationConverter.class,
            description =
                    "After the death of this process the lock is free within this time; by default ${DEFAULT-VALUE}.")
    private Duration lease = Duration.ZERO;

    @Option(
            names = "--pass-store",
            description = "Pass the store to the command in HOLDFAST_STORE, with its password, for a nested holdfast.")
    private boolean passStore;

    @Parameters(index = "0", paramLabel = "NAME", description = "The name of the lock, permits or leadership.")
    private String name = "";

    @Parameters(index = "1..*", arity = "1..*", paramLabel = "COMMAND", description = "The command and its arguments.")
    private List<String> command = List.of();

    /**
     * Makes the options of a command of this program.
     *
     * @param verb its name, such as {@code exec}
     * @param args all arguments of this program
     */
    CommandOptions(String verb, Io io, List<String> args) {
        this.verb = verb;
        this.io = io;
        this.args = args;
    }

    String name() {
        return name;
    }

    Duration lease() {
        return lease;
    }

    /** Refuses a command that cannot be run, and a lock name that is none, before anything is asked of the store. */
    void check(String lockName) {
        // Without the two dashes an option of the command would be taken for an option of this program.
        if (args.size() - args.indexOf("--") - 1 != command.size() || !args.contains("--")) {
            throw new CliException(
                    ExitCode.USAGE,
                    "the command must follow two dashes (expected: holdfast " + verb
                            + " [OPTIONS] NAME -- COMMAND [ARGS...])");
        }
        Arguments.checkText(command);
        Arguments.checkName(lockName);
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

    /** Returns a builder of a client that has the name and the lease of this process. */
    LockClient.Builder client() {
        LockClient.Builder builder = store.taker().clientName(clientName());
        return withOptionNames(() -> builder.leaseTime(lease));
    }

    /** Tools show the command, which an operator knows, as the holder. */
    private String clientName() {
        String program = command.get(0);
        String shown = verb + " " + program.substring(program.lastIndexOf('/') + 1);
        return shown.length() <= CLIENT_NAME_MAX ? shown : verb;
    }

    /**
     * Opens the client, for a while again and again.
     *
     * @param check refuses what is held around this process
     * @param quiet whether to try again without a word
     */
    LockClient open(LockClient.Builder builder, Consumer<LockClient> check, boolean quiet) throws InterruptedException {
        LockClient client = open(builder, quiet);
        try {
            check.accept(client);
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
        return client;
    }

    private LockClient open(LockClient.Builder builder, boolean quiet) throws InterruptedException {
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

    /**
     * Starts the command under a lock.
     *
     * @param holder this process's hold as the store shows it, or null if it is gone already
     * @return null if a signal was quicker; nothing is started then
     */
    @Nullable
    Process start(Supervisor supervisor, String lockName, long token, @Nullable String holder) {
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        Map<String, String> environment = builder.environment();
        environment.put("HOLDFAST_LOCK", lockName);
        environment.put("HOLDFAST_TOKEN", Long.toString(token));
        Nesting.enter(holder, environment);
        environment.remove(StoreOption.VARIABLE);
        if (passStore) {
            environment.put(StoreOption.VARIABLE, store.uri());
        }
        try {
            return supervisor.start(builder);
        } catch (IOException e) {
            // Found but not started: a script whose interpreter is missing, a binary of another machine.
            // "error=2, No such file", or from JDK 25 on "error: 2 (No such file)".
            String why = String.valueOf(e.getMessage()).replaceFirst("(?s).*error[=:] ?\\d+[, (]+(.*?)\\)?$", "$1");
            throw new CliException(ExitCode.NOT_EXECUTABLE, command.get(0) + ": cannot be run: " + why, e);
        }
    }

    /** Names the holder for a message. The lock may have become free since the wait ended. */
    static String holder(LockClient client, String lockName) {
        try {
            return client.inspect(lockName)
                    .holderTitle()
                    .map(holder -> "held by " + holder)
                    .orElse("free again by now");
        } catch (LockStoreException e) {
            return "the holder is unknown (" + e.getMessage() + ")";
        }
    }

    /** Returns the exit code after a signal that ended a wait. */
    static int stoppedBy(Supervisor supervisor, InterruptedException e) throws InterruptedException {
        Signals.Received signal = supervisor.waitEndedBy();
        if (signal == null) {
            throw e;
        }
        // The flag may be set still, and would disturb the release.
        Thread.interrupted();
        return ExitCode.SIGNAL + signal.number();
    }

    /** Checks made by the library speak of its methods; the user typed options. */
    static <T> T withOptionNames(Supplier<T> setting) {
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
