package io.holdfast.cli.commands;

import io.holdfast.LockClient;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.spi.Names;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast release --force NAME}. */
@Command(
        name = "release",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisHeading = "%nUsage: ",
        descriptionHeading = "%n",
        header = "Take a lock away from its holder.",
        description = {"The holder finds out at its next renewal; until then it may work on beside the next holder.", ""
        })
public final class ReleaseCommand implements Callable<Integer> {

    private final Io io;

    @Mixin
    private final StoreOption store = new StoreOption();

    /** Has to be typed out: this breaks the promise of the lock. */
    @Option(names = "--force", required = true, description = "Yes, without asking the holder.")
    private boolean force;

    @Parameters(paramLabel = "NAME", description = "The lock name.")
    private String name = "";

    public ReleaseCommand(Io io) {
        this.io = io;
    }

    @Override
    public Integer call() {
        Arguments.checkName(name);
        boolean held;
        try (LockClient client = store.client().build()) {
            held = force && client.forceRelease(name);
        }
        io.out().println(Names.printable(name) + (held ? ": released by force" : ": nobody held it"));
        return ExitCode.OK;
    }
}
