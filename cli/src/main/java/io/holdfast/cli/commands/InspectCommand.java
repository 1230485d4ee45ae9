package io.holdfast.cli.commands;

import io.holdfast.LockClient;
import io.holdfast.LockState;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.cli.json.Json;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.Names;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast inspect NAME}. */
@Command(
        name = "inspect",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisHeading = "%nUsage: ",
        descriptionHeading = "%n",
        header = "Say what the store knows of a lock.",
        description = {"The answer is old when it arrives: good for people, not for decisions.", ""},
        footer = {
            "",
            "--json prints one line with always the same fields: name, locked, holder (null if the lock is free),"
                    + " remainingMillis (0 if the lock is free, null if its key never expires), fencingToken (the"
                    + " smallest of this hold, as a string, because it needs 63 bits; null if the store does not know"
                    + " it), waitingClients."
        })
public final class InspectCommand implements Callable<Integer> {

    private final Io io;

    @Mixin
    private final StoreOption store = new StoreOption();

    @Option(names = "--json", description = "Print one line of JSON.")
    private boolean json;

    @Parameters(paramLabel = "NAME", description = "The lock name.")
    private String name = "";

    public InspectCommand(Io io) {
        this.io = io;
    }

    @Override
    public Integer call() {
        Arguments.checkName(name);
        LockState state;
        try (LockClient client = store.client().build()) {
            state = client.inspect(name);
        }
        if (json) {
            io.out().println(json(state));
        } else {
            print(state);
        }
        return ExitCode.OK;
    }

    private static String json(LockState state) {
        return Json.text(Json.object(
                "name", state.name(),
                "locked", state.isLocked(),
                "holder", state.holder().orElse(null),
                "remainingMillis", state.remaining().map(Duration::toMillis).orElse(null),
                "fencingToken", state.fencingToken().isPresent() ? token(state) : null,
                "waitingClients", state.waitingClients()));
    }

    private void print(LockState state) {
        line("name", state.name());
        line("held by", state.holder().orElse("nobody"));
        if (state.isLocked()) {
            String ends = state.remaining()
                    .map(left -> "in " + DurationText.of(left) + ", unless renewed")
                    .orElse("never: the key at the store has no expiry, so it is no lock of Holdfast");
            line("ends", ends);
            line("token", state.fencingToken().isPresent() ? token(state) + " or larger" : "unknown");
        }
        line("waiting", state.waitingClients() + (state.waitingClients() == 1 ? " client" : " clients"));
    }

    private static String token(LockState state) {
        return Long.toString(state.fencingToken().orElseThrow());
    }

    private void line(String what, String value) {
        io.out().printf("%-8s %s%n", what, Names.printable(value));
    }
}
