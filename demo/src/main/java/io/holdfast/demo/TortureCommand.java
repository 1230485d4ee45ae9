package io.holdfast.demo;

import io.holdfast.LockClient;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.demo.torture.HoldfastWorker;
import io.holdfast.history.Findings;
import io.holdfast.testkit.torture.ServerKind;
import io.holdfast.testkit.torture.Torture;
import io.holdfast.testkit.torture.TortureServers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast torture}. */
@Command(
        name = "torture",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisHeading = "%nUsage: ",
        descriptionHeading = "%n",
        header = "Use locks at random while things fail, and check what was recorded.",
        description = {
            "Several processes use a few locks, and permits and a read-write lock if the store has them; they are paused"
                    + " and killed. On servers of the torture's own, also connections are cut, requests and replies held"
                    + " up and lost, servers paused and killed, and masters changed. Then the recorded history is checked: exclusion, tokens, waits, and a register"
                    + " guarded by tokens.",
            ""
        },
        footer = {"", "Exit code 0 only if there is no violation; otherwise 1."})
final class TortureCommand implements Callable<Integer> {

    /** The exit code when something that must hold did not. */
    private static final int NOT_HELD = 1;

    private final Io io;

    @Mixin
    private final StoreOrOwn where = new StoreOrOwn();

    @Option(
            names = "--on",
            paramLabel = "SERVERS",
            description = "Which servers of its own: ${COMPLETION-CANDIDATES}; by default single.")
    private @Nullable ServerKind on;

    @Option(names = "--minutes", paramLabel = "N", description = "How long; by default 1.")
    private int minutes;

    @Option(names = "--seconds", paramLabel = "N", description = "How long, in addition to --minutes.")
    private int seconds;

    @Option(names = "--processes", paramLabel = "N", defaultValue = "3", description = "How many; by default 3.")
    private int processes;

    @Option(
            names = "--history",
            paramLabel = "FOLDER",
            description = "Where to keep the history; by default a folder for temporary files.")
    private @Nullable Path history;

    TortureCommand(Io io) {
        this.io = io;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (minutes < 0 || seconds < 0 || processes < 1) {
            throw new CliException(
                    ExitCode.USAGE,
                    "--minutes, --seconds, --processes: " + minutes + ", " + seconds + ", " + processes
                            + " (expected: positive numbers)");
        }
        String given = where.given(on == null ? null : "--on");
        Duration length = Duration.ofMinutes(minutes).plusSeconds(seconds);
        try {
            Torture.Report report = run(given, length.isZero() ? Duration.ofMinutes(1) : length);
            print(report);
            return report.findings().held() ? ExitCode.OK : NOT_HELD;
        } catch (IOException e) {
            throw new CliException(ExitCode.INTERNAL, "the torture cannot go on: " + e.getMessage(), e);
        }
    }

    private static Torture torture(String uri, Path folder, long seed) {
        try {
            return new Torture(HoldfastWorker.class, uri, folder, seed);
        } catch (IllegalArgumentException e) {
            throw new CliException(ExitCode.USAGE, "--history: " + e.getMessage(), e);
        }
    }

    private Torture.Report run(@Nullable String given, Duration length) throws IOException, InterruptedException {
        Path folder = history == null ? Files.createTempDirectory("holdfast-torture") : folder(history);
        long seed = new Random().nextLong();
        if (given != null) {
            // The workers put up with a store that is away, as it may be by a fault: here they would try for a minute.
            return shared(torture(given, folder, seed), given).run(processes, length, this::progress);
        }
        ServerKind kind = on == null ? ServerKind.SINGLE : on;
        try (TortureServers servers = StoreOrOwn.start(io, "servers for " + kind, kind::start)) {
            progress("on " + servers.describe());
            return shared(torture(servers.uri(), folder, seed), servers.uri())
                    .with(servers)
                    .run(processes, length, this::progress);
        }
    }

    /** Adds permits and a read-write lock, if the store has them: it has both or neither. */
    private Torture shared(Torture torture, String uri) {
        try (LockClient client = LockClient.connect(uri)) {
            if (client.hasPermits()) {
                return torture.withShares();
            }
            progress("without permits and readers, which this store does not have");
            return torture;
        }
    }

    private static Path folder(Path wanted) {
        Path folder;
        try {
            folder = Files.createDirectories(wanted);
        } catch (IOException e) {
            throw new CliException(
                    ExitCode.USAGE,
                    "--history: " + wanted + " (expected: a folder, or a name where one can be made)",
                    e);
        }
        if (!Files.isReadable(folder) || !Files.isWritable(folder)) {
            throw new CliException(
                    ExitCode.USAGE, "--history: " + wanted + " (expected: a folder that you may read and write)");
        }
        return folder;
    }

    private void progress(String sentence) {
        io.err().println(sentence);
        io.err().flush();
    }

    private void print(Torture.Report report) {
        Findings found = report.findings();
        line("uses", found.operations());
        line("leases", found.granted());
        line("waits that timed out", found.timedOut());
        line("errors of the store", found.failed());
        line("leases lost", found.lost());
        report.faults().forEach((fault, count) -> line("fault: " + fault, count));
        line("additions lost by a counter without a guard", found.damage());
        line("stale writes rejected by tokens", found.rejected());
        line("writes accepted by tokens", found.accepted());
        line("VIOLATIONS", found.violations().size());
        found.violations().stream().limit(20).forEach(io.out()::println);
        io.out().println("history: " + report.history());
        io.out().flush();
    }

    private void line(String what, long count) {
        io.out().printf("%10d  %s%n", count, what);
    }
}
