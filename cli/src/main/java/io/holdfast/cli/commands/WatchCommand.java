package io.holdfast.cli.commands;

import io.holdfast.LockClient;
import io.holdfast.LockState;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.cli.view.LockChanges;
import io.holdfast.console.json.Json;
import io.holdfast.spi.Names;
import java.time.Duration;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast watch NAME}. */
@Command(
        name = "watch",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisHeading = "%nUsage: ",
        descriptionHeading = "%n",
        header = "Follow a lock: acquired, released, lost, waited for.",
        description = {
            "Asks the store at intervals and prints a line for each change, until it is stopped. What begins and ends"
                    + " between two questions is not seen.",
            ""
        },
        footer = {
            "",
            "--json prints a line for each change: time, name, event (free, held, acquired, released, lost, token,"
                    + " waiting), holder, holderTitle, fencingToken (a string), remainingMillis, waitingClients."
        })
public final class WatchCommand implements Callable<Integer> {

    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT);
    private static final Duration INTERVAL_MIN = Duration.ofMillis(50);

    private final Io io;

    @Mixin
    private final StoreOption store = new StoreOption();

    @Option(names = "--json", description = "Print a line of JSON for each change.")
    private boolean json;

    @Option(
            names = "--interval",
            paramLabel = "TIME",
            defaultValue = "500ms",
            converter = DurationConverter.class,
            description = "How often to ask; by default ${DEFAULT-VALUE}.")
    private Duration interval = Duration.ZERO;

    @Parameters(paramLabel = "NAME", description = "The lock name.")
    private String name = "";

    public WatchCommand(Io io) {
        this.io = io;
    }

    @Override
    public Integer call() throws InterruptedException {
        Arguments.checkName(name);
        if (interval.compareTo(INTERVAL_MIN) < 0) {
            throw new CliException(
                    ExitCode.USAGE,
                    "--interval: " + DurationConverter.format(interval) + " (expected: at least "
                            + DurationConverter.format(INTERVAL_MIN) + ")");
        }
        try (LockClient client = store.viewer().build()) {
            LockChanges changes = new LockChanges();
            // A reader that is gone (| head) ends the watch.
            while (!io.out().checkError()) {
                LockState state = client.inspect(name);
                changes.next(state, System.nanoTime()).forEach(change -> print(change, state));
                Thread.sleep(interval.toMillis());
            }
        }
        return ExitCode.OK;
    }

    private void print(LockChanges.Change change, LockState state) {
        if (json) {
            io.out()
                    .println(Json.text(Json.object(
                            "time", OffsetDateTime.now(ZoneId.systemDefault()).toString(),
                            "name", name,
                            "event", change.event(),
                            "holder", state.holder().orElse(null),
                            "holderTitle", state.holderTitle().orElse(null),
                            "fencingToken",
                                    state.fencingToken().isPresent()
                                            ? Long.toString(state.fencingToken().getAsLong())
                                            : null,
                            "remainingMillis",
                                    state.remaining().map(Duration::toMillis).orElse(null),
                            "waitingClients", state.waitingClients())));
        } else {
            io.out()
                    .println(CLOCK.format(LocalTime.now(ZoneId.systemDefault())) + "  "
                            + Names.printable(change.text()));
        }
        io.out().flush();
    }
}
