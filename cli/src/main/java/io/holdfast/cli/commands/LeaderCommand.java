package io.holdfast.cli.commands;

import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.LeadershipOptions;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.Term;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast leader}: a command that runs on one machine at a time. */
@Command(
        name = "leader",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisHeading = "%nUsage: ",
        header = "Run a command on one machine at a time: on the leader.",
        customSynopsis = "holdfast leader [OPTIONS] NAME -- COMMAND [ARGS...]%n",
        description = {
            "Campaigns for the leadership NAME, and starts the command when it is elected. When the lock leader:NAME is"
                    + " lost, or cannot be renewed in time, the command is stopped while nobody else leads, and started again"
                    + " at the next election. When the command ends by itself, so does holdfast, with its exit code, and"
                    + " the next one leads within milliseconds. Environment and signals of the command are those of exec:"
                    + " HOLDFAST_LOCK, HOLDFAST_TOKEN; SIGTERM stops the command and holdfast.",
            "",
            "TIME is a number of seconds, or a number with a unit: 500ms, 10s, 2m, 1h, 1d.",
            ""
        },
        footer = {
            "",
            "Exit codes: that of the command; 128 and the signal's number if a signal came while it did not run; 64 usage,"
                    + " 69 store unavailable at the start, 127 no such command, 126 not executable.",
            "If holdfast is killed by SIGKILL or paused for longer than --lease, the command runs on while another one"
                    + " leads: let what it writes to refuse old fencing tokens. After a pause it is stopped."
        })
public final class LeaderCommand implements Callable<Integer> {

    private final Io io;

    @Mixin
    private final CommandOptions options;

    @Option(
            names = {"-q", "--quiet"},
            description = "Say nothing of elections and waits, only of what fails.")
    private boolean quiet;

    @Option(
            names = "--stop-within",
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "How long the command may take to stop before it gets SIGKILL; by default, and at most, a"
                    + " quarter of --lease.")
    private @Nullable Duration stopWithin;

    public LeaderCommand(Io io, List<String> args) {
        this.io = io;
        this.options = new CommandOptions("leader", io, args);
    }

    @Override
    public Integer call() throws InterruptedException {
        String name = options.name();
        Arguments.checkName(name);
        String lockName = Leadership.LOCK_PREFIX + name;
        options.check(lockName);
        LockClient.Builder builder = options.client();
        Duration killAfter = killAfter();
        try (Supervisor supervisor = new Supervisor(killAfter, true);
                LockClient client = options.open(
                        builder.listener(new StoreNotes(io, lockName)),
                        opened -> Nesting.refuseHeldOutside(opened, lockName),
                        quiet)) {
            Terms terms = new Terms(supervisor, client, lockName);
            supervisor.waiting();
            terms.waitForTheNext();
            // The rest, a quarter of this time, is for the end of the processes after SIGKILL.
            Duration all = killAfter.multipliedBy(4).dividedBy(3);
            Leadership leadership =
                    client.leadership(name, terms, LeadershipOptions.defaults().stopWithin(all));
            try {
                return terms.ended.get();
            } catch (InterruptedException e) {
                return CommandOptions.stoppedBy(supervisor, e);
            } catch (ExecutionException e) {
                throw e.getCause() instanceof RuntimeException known ? known : new IllegalStateException(e.getCause());
            } finally {
                terms.notes.close();
                leadership.close();
            }
        }
    }

    private Duration killAfter() {
        Duration most = options.lease().dividedBy(4);
        if (stopWithin != null && (stopWithin.isZero() || stopWithin.isNegative() || stopWithin.compareTo(most) > 0)) {
            throw new CliException(
                    ExitCode.USAGE,
                    "--stop-within: " + DurationConverter.format(stopWithin)
                            + " (expected: more than zero, and at most " + DurationConverter.format(most)
                            + ", a quarter of --lease)");
        }
        return stopWithin == null ? most : stopWithin;
    }

    /** Runs the command for as long as each term lasts. */
    private final class Terms implements LeadershipListener {

        private final Supervisor supervisor;
        private final LockClient client;
        private final String lockName;

        /** The exit code: completes when the command has ended by itself, or is not to run again. */
        final CompletableFuture<Integer> ended = new CompletableFuture<>();

        /** The command of this term; only for the thread that calls the listener. */
        private @Nullable Process process;

        volatile WaitNotes notes;

        Terms(Supervisor supervisor, LockClient client, String lockName) {
            this.supervisor = supervisor;
            this.client = client;
            this.lockName = lockName;
            this.notes = notes();
        }

        private WaitNotes notes() {
            return new WaitNotes(io, lockName, () -> CommandOptions.holder(client, lockName));
        }

        void waitForTheNext() {
            notes = notes();
            if (!quiet) {
                notes.start();
            }
        }

        @Override
        public void onElected(Term term) throws InterruptedException {
            notes.close();
            if (!quiet) {
                io.complain(lockName + ": leads, with token " + term.fencingToken());
            }
            try {
                Process started = options.start(supervisor, lockName, term.fencingToken(), holder());
                process = started;
                if (started != null) {
                    ended.complete(supervisor.await(started));
                }
            } catch (RuntimeException e) {
                ended.completeExceptionally(e);
            }
        }

        private @Nullable String holder() {
            return client.localLocks().stream()
                    .filter(lock -> lock.name().equals(lockName))
                    .flatMap(lock -> lock.lease().stream())
                    .map(Lease::holderId)
                    .findFirst()
                    .orElse(null);
        }

        @Override
        public void onRevoked(Term term) throws InterruptedException {
            Process running = process;
            process = null;
            if (running == null || ended.isDone()) {
                return;
            }
            io.complain(lockName + ": no longer leads, the command is stopped (" + reason(term) + ")");
            try {
                supervisor.stop("TERM");
            } catch (IllegalStateException e) {
                io.complain(String.valueOf(e.getMessage())); // SIGKILL follows, which needs no other process
            }
            OptionalInt status = supervisor.awaitStopped(running);
            if (status.isPresent()) {
                ended.complete(status.getAsInt());
            } else {
                waitForTheNext();
            }
        }

        private static String reason(Term term) {
            try {
                term.ensureValid();
                return "its lock was not renewed in time";
            } catch (LeaseLostException | IllegalStateException e) { // the latter if this process was paused
                return String.valueOf(e.getMessage());
            }
        }
    }
}
