package io.holdfast.demo;

import io.holdfast.cli.StderrLogs;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.cli.process.Terminal;
import io.holdfast.demo.scenes.Demo;
import io.holdfast.demo.scenes.Summary;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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

    /** Two thirds of it are the lease of the scenes that wait for its end. */
    private static final String ZOOKEEPER_OPTIONS = "?sessionTimeout=3s";

    private static final String OWN = " (its own)";

    /** The exit code when something that must hold did not. */
    private static final int NOT_HELD = 1;

    private final Io io;

    @Mixin
    private final StoreOrOwn where = new StoreOrOwn();

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
        Set<String> chosen = scenes();
        String given = where.given(zooKeeper ? "--zookeeper" : null);
        if (given != null) {
            return play(given, "", chosen);
        }
        if (zooKeeper) {
            try (ZooKeeperEnsemble own = StoreOrOwn.start(io, "ZooKeeper server", () -> ZooKeeperEnsemble.start(1))) {
                return play(own.uri() + ZOOKEEPER_OPTIONS, OWN, chosen);
            }
        }
        try (RedisServer own = StoreOrOwn.start(io, "Redis server", RedisServer::start)) {
            return play(own.uri(), OWN, chosen);
        }
    }

    private int play(String uri, String remark, Set<String> chosen) throws InterruptedException {
        Summary summary;
        try {
            summary = Demo.play(
                    uri, remark, chosen, json ? io.err() : io.out(), Terminal.isInteractive(), StderrLogs.showsAll());
        } catch (IOException e) {
            throw new CliException(ExitCode.STORE_UNAVAILABLE, "the demonstration cannot start: " + e.getMessage(), e);
        }
        if (json) {
            summary.printJson(io.out());
        } else {
            summary.print(io.out());
        }
        return summary.held() ? ExitCode.OK : NOT_HELD;
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
