package io.holdfast.cli;

import io.holdfast.cli.demo.Demo;
import io.holdfast.cli.demo.Summary;
import io.holdfast.cli.process.Terminal;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code holdfast demo}. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisHeading = "%nUsage: ",
        descriptionHeading = "%n",
        header = "Show the lock at work, with real processes and a real server.",
        description = {
            "Several processes compete for a refund and for a stock, work longer than their lease,"
                    + " are killed and are paused. Ends with a table of what happened.",
            ""
        },
        footer = {"", "Exit code 0 only if every invariant held; otherwise 1, and the summary says which did not."})
final class DemoCommand implements Callable<Integer> {

    private final Io io;

    @Option(
            names = "--store",
            paramLabel = "URI",
            description =
                    "Play on this store, for example redis://127.0.0.1:6379. The lock names are random and the keys"
                            + " expire. Without it: on a Redis server of the demonstration's own.")
    private @Nullable String store;

    @Option(names = "--zookeeper", description = "Play on a ZooKeeper server of the demonstration's own.")
    private boolean zooKeeper;

    @Option(names = "--json", description = "Print the summary as JSON; progress goes to standard error.")
    private boolean json;

    @Option(
            names = "--only",
            paramLabel = "SCENE",
            split = ",",
            description = "Play only these, separated by commas: refund, inventory, long-job, crash, late-writer.")
    private List<String> only = List.of();

    DemoCommand(Io io) {
        this.io = io;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (store != null && store.strip().startsWith("memory:")) {
            throw new CliException(
                    ExitCode.USAGE,
                    "--store: " + store + " lives within one process, and the demonstration plays with several"
                            + " (expected: a store with a server, such as redis://127.0.0.1:6379)");
        }
        if (store != null && zooKeeper) {
            throw new CliException(
                    ExitCode.USAGE,
                    "--store and --zookeeper exclude each other (expected: your store, or a server of its own)");
        }
        Summary summary;
        try {
            summary = Demo.play(
                    store,
                    zooKeeper,
                    scenes(),
                    json ? io.err() : io.out(),
                    Terminal.isInteractive(),
                    StderrLogs.showsAll());
        } catch (IOException e) {
            throw new CliException(ExitCode.STORE_UNAVAILABLE, "the demonstration cannot start: " + e.getMessage(), e);
        }
        if (json) {
            summary.printJson(io.out());
        } else {
            summary.print(io.out());
        }
        return summary.held() ? ExitCode.OK : ExitCode.NOT_HELD;
    }

    /** Scene names may be typed with a dash for the blank. */
    private Set<String> scenes() {
        List<String> known = Demo.sceneNames();
        Set<String> chosen = new LinkedHashSet<>();
        for (String text : only) {
            String name = text.strip().replace('-', ' ');
            if (!known.contains(name)) {
                throw new CliException(
                        ExitCode.USAGE, "--only: " + text + " (expected: some of " + String.join(", ", known) + ")");
            }
            chosen.add(name);
        }
        return chosen.isEmpty() ? new LinkedHashSet<>(known) : chosen;
    }
}
