package io.holdfast.cli.commands;

import io.holdfast.ForcedRelease;
import io.holdfast.LockClient;
import io.holdfast.Permits;
import io.holdfast.PermitsState;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.cli.process.Terminal;
import io.holdfast.cli.view.LockDetails;
import io.holdfast.cli.view.PermitsDetails;
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
        header = "Take a lock or permits away from the holder.",
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

    @Option(names = "--all", description = "Release all holders of permits.")
    private boolean all;

    @Parameters(paramLabel = "NAME", description = "The name of the lock, or of permits: NAME or permits:NAME.")
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
        if (all && holder != null) {
            throw new CliException(ExitCode.USAGE, "--all and --holder exclude each other (expected: one of them)");
        }
        try (LockClient client = store.viewer().build()) {
            Optional<Permits> pool = PoolView.of(client, name);
            Optional<PermitsState> permits = pool.map(Permits::inspect).filter(PermitsState::isUsed);
            if (permits.isPresent() && arePermitsMeant(client, permits.get())) {
                releasePermits(pool.orElseThrow(), permits.get());
            } else {
                releaseLock(client);
            }
        }
        return ExitCode.OK;
    }

    /** Returns whether the user means the permits and not the lock; refuses if nothing says which of both. */
    private boolean arePermitsMeant(LockClient client, PermitsState permits) {
        Optional<String> lock = client.inspect(name).holder();
        if (holder != null) {
            return permits.hold(holder).isPresent() || PoolView.isExplicit(name) || lock.isEmpty();
        }
        if (lock.isPresent() && !PoolView.isExplicit(name)) {
            throw new CliException(
                    ExitCode.USAGE,
                    name + ": both a lock and permits of this name are held (expected: " + Permits.SHOWN_PREFIX + name
                            + " for the permits, or --holder " + lock.get() + " for the lock)");
        }
        return true;
    }

    private void releaseLock(LockClient client) {
        Optional<String> seen = yes ? client.inspect(name).holder() : confirmed(client);
        if (seen.isPresent()) {
            report(client.forceRelease(name, holder != null ? holder : seen.get()));
        } else if (yes) {
            io.out().println(Names.printable(name) + ": nobody held it");
        }
    }

    private void releasePermits(Permits pool, PermitsState seen) {
        int holds = seen.holds().size();
        if (holder == null && !all && holds > 1) {
            throw new CliException(
                    ExitCode.USAGE,
                    name + ": permits are held by " + holds
                            + " holders (expected: --holder ID to end one hold, whose id inspect shows, or --all)");
        }
        String one = all ? null : holder != null ? holder : seen.holds().get(0).holder();
        if (!yes) {
            new PermitsDetails(LockRow.ofPermits(Permits.SHOWN_PREFIX + pool.name()), seen, store.forShell())
                    .lines()
                    .forEach(io.out()::println);
            if (!confirms(
                    one == null ? "End all " + holds + " holds by force?" : "End the hold of " + one + " by force?")) {
                return;
            }
        }
        if (one == null) {
            io.out()
                    .println(Names.printable(name)
                            + (pool.forceReleaseAll()
                                    ? ": all permits released by force; " + holds
                                            + (holds == 1 ? " holder" : " holders") + " had " + seen.used()
                                    : ": nobody held any"));
            return;
        }
        ForcedRelease release = pool.forceRelease(one);
        if (!release.isEnded()) {
            throw new CliException(
                    ExitCode.NOT_ACQUIRED,
                    name + ": not released, because " + one + " holds no permits of it (expected: another look)");
        }
        io.out()
                .println(Names.printable(name) + ": permits released by force; they were held by "
                        + release.holderTitle().orElseThrow());
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
        LockRow lock = picture.lock(name).orElseGet(() -> LockRow.free(name));
        Optional<Holder> shown = lock.holder();
        if (shown.isEmpty()) {
            io.out().println(Names.printable(name) + ": nobody holds it");
            return Optional.empty();
        }
        new LockDetails(picture, lock, store.forShell()).lines().forEach(io.out()::println);
        return confirms("Release it by force?") ? shown.map(Holder::id) : Optional.empty();
    }

    private boolean confirms(String question) {
        io.out().print(Names.printable(question) + " [y/N] ");
        io.out().flush();
        String answer = Terminal.readLine();
        boolean confirmed =
                answer != null && List.of("y", "yes").contains(answer.strip().toLowerCase(Locale.ROOT));
        if (!confirmed) {
            io.out().println(Names.printable(name) + ": not released");
        }
        return confirmed;
    }
}
