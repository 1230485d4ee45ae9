package io.holdfast.cli.commands;

import io.holdfast.LockClient;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.cli.process.Terminal;
import io.holdfast.cli.view.LockDetails;
import io.holdfast.console.Holder;
import io.holdfast.console.LockPicture;
import io.holdfast.console.LockRow;
import io.holdfast.console.LockWatch;
import io.holdfast.spi.Names;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast release NAME}. */
@Command(
        name = "release",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisHeading = "%nUsage: ",
        descriptionHeading = "%n",
        header = "Take a lock away from its holder.",
        description = {
            "The holder is told, or finds out at its next renewal; until then it may work on beside the next holder. On a"
                    + " terminal, shows the holder and asks; elsewhere, --yes is needed.",
            ""
        })
public final class ReleaseCommand implements Callable<Integer> {

    private final Io io;

    @Mixin
    private final StoreOption store = new StoreOption();

    /** Has to be typed out: this breaks the promise of the lock. */
    @Option(
            names = {"-y", "--yes", "--force"},
            description = "Do not ask, neither here nor the holder.")
    private boolean yes;

    @Parameters(paramLabel = "NAME", description = "The lock name.")
    private String name = "";

    public ReleaseCommand(Io io) {
        this.io = io;
    }

    @Override
    public Integer call() {
        Arguments.checkName(name);
        if (!yes && !Terminal.isInteractive()) {
            throw new CliException(
                    ExitCode.USAGE,
                    "release breaks the promise of the lock, and there is no terminal to ask on (expected: --yes)");
        }
        boolean held;
        try (LockClient client = store.viewer().build()) {
            if (!yes && !isConfirmed(client)) {
                return ExitCode.OK;
            }
            held = client.forceRelease(name);
        }
        io.out().println(Names.printable(name) + (held ? ": released by force" : ": nobody held it"));
        return ExitCode.OK;
    }

    /** Asks the user, and makes sure that the holder that the user saw still holds the lock. */
    private boolean isConfirmed(LockClient client) {
        LockPicture picture = new LockWatch(client).look(List.of(name));
        LockRow lock = picture.lock(name).orElseThrow();
        Optional<Holder> holder = lock.holder();
        if (holder.isEmpty()) {
            io.out().println(Names.printable(name) + ": nobody holds it");
            return false;
        }
        new LockDetails(picture, lock, store.forShell()).lines().forEach(io.out()::println);
        io.out().print("Release it by force? [y/N] ");
        io.out().flush();
        String answer = Terminal.readLine();
        if (answer == null || !List.of("y", "yes").contains(answer.strip().toLowerCase(Locale.ROOT))) {
            io.out().println(Names.printable(name) + ": not released");
            return false;
        }
        Optional<String> now = client.inspect(name).holder();
        if (!now.equals(holder.map(Holder::id))) {
            throw new CliException(
                    ExitCode.NOT_ACQUIRED,
                    name + ": not released, because its holder has changed since; it is " + now.orElse("free")
                            + " now (expected: another look)");
        }
        return true;
    }
}
