package io.holdfast.cli.commands;

import io.holdfast.ForcedRelease;
import io.holdfast.LockClient;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.cli.process.Terminal;
import io.holdfast.cli.view.LockDetails;
import io.holdfast.cli.view.PoolDetails;
import io.holdfast.cli.view.PoolState;
import io.holdfast.cli.view.PoolState.Kind;
import io.holdfast.console.Holder;
import io.holdfast.console.LockPicture;
import io.holdfast.console.LockRow;
import io.holdfast.console.LockWatch;
import io.holdfast.spi.Names;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
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
        header = "Take a lock, permits or a read-write lock away from the holder.",
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

    @Option(names = "--all", description = "Release all holders of permits or of a read-write lock.")
    private boolean all;

    @Parameters(
            paramLabel = "NAME",
            description =
                    "The name of the lock, of permits or of a read-write lock: NAME, permits:NAME or read-write:NAME.")
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
            Map<PoolState, Pool> held = new LinkedHashMap<>();
            Pool.meantBy(client, name).forEach(pool -> {
                PoolState look = pool.look();
                if (look.isUsed()) {
                    held.put(look, pool);
                }
            });
            PoolState meant = held.isEmpty() ? null : meant(client, List.copyOf(held.keySet()));
            if (meant == null) {
                releaseLock(client);
            } else {
                releasePool(Objects.requireNonNull(held.get(meant)), meant);
            }
        }
        return ExitCode.OK;
    }

    /** Returns what the user means and not the lock; null for the lock. Refuses if nothing says which of them. */
    private @Nullable PoolState meant(LockClient client, List<PoolState> held) {
        Optional<String> lock = client.inspect(name).holder();
        if (holder != null) {
            String wanted = holder;
            return held.stream()
                    .filter(state -> state.hold(wanted).isPresent())
                    .findFirst()
                    .orElse(Pool.isExplicit(name) || lock.isEmpty() ? held.get(0) : null);
        }
        if (held.size() + (lock.isPresent() && !Pool.isExplicit(name) ? 1 : 0) == 1) {
            return held.get(0);
        }
        List<String> kinds = new ArrayList<>();
        List<String> ways = new ArrayList<>();
        held.forEach(state -> {
            kinds.add(state.kind().noun());
            ways.add(state.shownName() + " for the " + state.kind().noun().replaceFirst("^a ", ""));
        });
        lock.ifPresent(id -> {
            kinds.add(0, "a lock");
            ways.add("--holder " + id + " for the lock");
        });
        throw new CliException(
                ExitCode.USAGE,
                name + ": " + (kinds.size() == 2 ? "both " : "") + String.join(" and ", kinds)
                        + " of this name are held (expected: " + String.join(", or ", ways) + ")");
    }

    private void releaseLock(LockClient client) {
        Optional<String> seen = yes ? client.inspect(name).holder() : confirmed(client);
        if (seen.isPresent()) {
            report(client.forceRelease(name, holder != null ? holder : seen.get()));
        } else if (yes) {
            io.out().println(Names.printable(name) + ": nobody held it");
        }
    }

    private void releasePool(Pool pool, PoolState seen) {
        boolean ofPermits = seen.kind() == Kind.PERMITS;
        int holds = seen.holds().size();
        if (holder == null && !all && holds > 1) {
            throw new CliException(
                    ExitCode.USAGE,
                    name + (ofPermits ? ": permits are held by " : ": the read-write lock is held by ") + holds
                            + " holders (expected: --holder ID to end one hold, whose id inspect shows, or --all)");
        }
        String one = all ? null : holder != null ? holder : seen.holds().get(0).holder();
        if (!yes) {
            new PoolDetails(PoolDetails.unknown(seen.kind(), seen.name()), seen, store.forShell())
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
                                    ? (ofPermits
                                                    ? ": all permits released by force; "
                                                    : ": all holds on the read-write lock ended by force; ")
                                            + holds
                                            + (holds == 1 ? " holder" : " holders")
                                            + (ofPermits ? " had " + seen.used() : "")
                                    : ": nobody held any"));
            return;
        }
        ForcedRelease release = pool.forceRelease(one);
        if (!release.isEnded()) {
            throw new CliException(
                    ExitCode.NOT_ACQUIRED,
                    name + ": not released, because " + one + " holds "
                            + (ofPermits ? "no permits of it" : "it neither to read nor to write")
                            + " (expected: another look)");
        }
        io.out()
                .println(Names.printable(name)
                        + (ofPermits
                                ? ": permits released by force; they were held by "
                                : ": released by force; it was held by ")
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
