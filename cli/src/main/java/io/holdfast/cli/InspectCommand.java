package io.holdfast.cli;

import io.holdfast.LockClient;
import io.holdfast.LockState;
import io.holdfast.spi.DurationText;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code holdfast inspect NAME}. */
@Command(
        name = "inspect",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisHeading = "%nUsage: ",
        descriptionHeading = "%n",
        header = "Say what the store knows of a lock.",
        description = {"The answer is old when it arrives: good for people, not for decisions.", ""})
final class InspectCommand implements Callable<Integer> {

    private final Io io;

    @Mixin
    private final StoreOption store = new StoreOption();

    @Parameters(paramLabel = "NAME", description = "The lock name.")
    private String name = "";

    InspectCommand(Io io) {
        this.io = io;
    }

    @Override
    public Integer call() {
        Arguments.checkName(name);
        LockState state;
        try (LockClient client = store.client().build()) {
            state = client.inspect(name);
        }
        line("name", state.name());
        line("held by", state.holder().orElse("nobody"));
        if (state.isLocked()) {
            String ends = state.remaining()
                    .map(left -> "in " + DurationText.of(left) + ", unless renewed")
                    .orElse("never: the key at the store has no expiry, so it is no lock of Holdfast");
            line("ends", ends);
            line(
                    "token",
                    state.fencingToken().map(token -> token + " or larger").orElse("unknown"));
        }
        line("waiting", state.waitingClients() + (state.waitingClients() == 1 ? " client" : " clients"));
        return ExitCode.OK;
    }

    private void line(String what, String value) {
        io.out().printf("%-8s %s%n", what, value);
    }
}
