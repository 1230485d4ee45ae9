package io.holdfast.cli.commands;

import io.holdfast.ForcedRelease;
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
import org.jspecify.annotations.Nullable;
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

    /** Null: the present holder. */
    @Option(names = "--holder", paramLabel = "ID", description = "Release only this holder, whose id 'inspect' shows.")
    private @Nullable String holder;

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
        try (LockClient client = store.viewer().build()) {
            Optional<String> seen = yes ? client.inspect(name).holder() : confirmed(client);
            if (seen.isPresent()) {
                report(client.forceRelease(name, holder != null ? holder : seen.get()));
            } else if (yes) {
                io.out().println(Names.printable(name) + ": nobody held it");
            }
        }
        return ExitCode.OK;
    }

    private void report(ForcedRelease release) {
        if (release.outcome() == ForcedRelease.Outcome.HELD_BY_ANOTHER) {
            throw new CliException(
                    ExitCode.NOT_ACQUIRED,
                    name + ": not released, because its holder has changed since; it is "
                            + release.holder().orElseThrow() + " now (expected: another look)");
        }
        io.out()
                .println(Names.printable(name)
                        + (release.isEnded()
                                ? ": released by force; it was held by "
                                        + release.holderTitle().orElseThrow()
                                : ": nobody held it"));
    }

    /** Shows the holder and asks the user. Returns the holder that the user has seen; empty if nothing is released. */
    private Optional<String> confirmed(LockClient client) {
        LockPicture picture = new LockWatch(client).look(List.of(name));
        LockRow lock = picture.lock(name).orElseThrow();
        Optional<Holder> shown = lock.holder();
        if (shown.isEmpty()) {
            io.out().println(Names.printable(name) + ": nobody holds it");
            return Optional.empty();
        }
        new LockDetails(picture, lock, store.forShell()).lines().forEach(io.out()::println);
        io.out().print("Release it by force? [y/N] ");
        io.out().flush();
        String answer = Terminal.readLine();
        if (answer == null || !List.of("y", "yes").contains(answer.strip().toLowerCase(Locale.ROOT))) {
            io.out().println(Names.printable(name) + ": not released");
            return Optional.empty();
        }
        return shown.map(Holder::id);
    }
}
