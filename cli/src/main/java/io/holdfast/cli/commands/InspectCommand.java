package io.holdfast.cli.commands;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockClient;
import io.holdfast.LockState;
import io.holdfast.Permits;
import io.holdfast.PermitsState;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.cli.view.LockDetails;
import io.holdfast.cli.view.PermitsDetails;
import io.holdfast.console.Holder;
import io.holdfast.console.LockPicture;
import io.holdfast.console.LockRow;
import io.holdfast.console.LockWatch;
import io.holdfast.console.PermitsInUse;
import io.holdfast.console.json.Json;
import io.holdfast.console.json.LockJson;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
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
        header = "Show the holder of a lock, its waiters, and how to break it.",
        description = {
            "Asks the store, and reads the cards of its clients. The answer is old when it arrives: good for people,"
                    + " not for decisions.",
            "Also shows permits of that name, if any are held or waited for. permits:NAME means permits alone.",
            ""
        },
        footer = {
            "",
            "--json prints one line with always the same fields: name, locked, holder (null if the lock is free),"
                    + " remainingMillis (0 if the lock is free, null if its key never expires), fencingToken (the"
                    + " smallest of this hold, as a string, because it needs 63 bits; null if the store does not know"
                    + " it), waitingClients, holderTitle, heldMillis, renewed, thread, flags, waiters, queue, permits"
                    + " (null without any; used, limits, waiting, waiters, queue, holders)."
        })
public final class InspectCommand implements Callable<Integer> {

    private final Io io;

    @Mixin
    private final StoreOption store = new StoreOption();

    @Option(names = "--json", description = "Print one line of JSON.")
    private boolean json;

    @Parameters(paramLabel = "NAME", description = "The name of the lock or permits.")
    private String name = "";

    public InspectCommand(Io io) {
        this.io = io;
    }

    @Override
    public Integer call() throws InterruptedException {
        Arguments.checkName(name);
        LockState state;
        LockPicture picture;
        Optional<PermitsState> permits;
        try (LockClient client = store.viewer().build()) {
            picture = Watching.look(new LockWatch(client), List.of(name), name::equals, io);
            state = client.inspect(name);
            permits = PoolView.of(client, name).map(Permits::inspect);
        }
        String shown = Permits.SHOWN_PREFIX + PoolView.name(name);
        Optional<LockRow> pool = picture.lock(shown).filter(row -> row.permits().isPresent());
        // Without a card yet, only the store knows of them.
        Optional<PermitsDetails> known = permits.filter(
                        some -> some.isUsed() || some.waiting() > 0 || pool.isPresent() || PoolView.isExplicit(name))
                .map(some ->
                        new PermitsDetails(pool.orElseGet(() -> LockRow.ofPermits(shown)), some, store.forShell()));
        Optional<LockRow> lock = picture.lock(name).filter(row -> row.permits().isEmpty());
        if (json) {
            io.out().println(json(state, lock, known));
            return ExitCode.OK;
        }
        boolean lockToo =
                known.isEmpty() || lock.filter(InspectCommand::isInUse).isPresent();
        if (lockToo) {
            lock.ifPresent(row ->
                    new LockDetails(picture, row, store.forShell()).lines().forEach(io.out()::println));
        }
        known.ifPresent(details -> {
            if (lockToo) {
                io.out().println();
            }
            details.lines().forEach(io.out()::println);
        });
        return ExitCode.OK;
    }

    private static boolean isInUse(LockRow lock) {
        return lock.holder().isPresent() || lock.waiters() > 0;
    }

    /**
     * The first six are what the store said. The rest may be of another holder, if the lock changed hands in between.
     */
    private static String json(LockState state, Optional<LockRow> row, Optional<PermitsDetails> permits) {
        LockRow lock = row.orElseGet(() -> LockRow.free(state.name()));
        @Nullable Holder holder = lock.holder().orElse(null);
        return Json.text(Json.object(
                "name", state.name(),
                "locked", state.isLocked(),
                "holder", state.holder().orElse(null),
                "remainingMillis", state.remaining().map(Duration::toMillis).orElse(null),
                "fencingToken", state.fencingToken().isPresent() ? token(state) : null,
                "waitingClients", state.waitingClients(),
                "holderTitle", holder == null ? null : holder.title(),
                "heldMillis",
                        holder == null
                                ? null
                                : holder.heldFor().map(Duration::toMillis).orElse(null),
                "renewed", holder != null && holder.isRenewed(),
                "thread", holder == null ? null : holder.thread().orElse(null),
                "traceId", holder == null ? null : holder.traceId().orElse(null),
                "flags", LockJson.flags(lock),
                "waiters", lock.waiters(),
                "queue", LockJson.queue(lock),
                "permits", permits.map(InspectCommand::permits).orElse(null)));
    }

    private static Map<String, @Nullable Object> permits(PermitsDetails details) {
        PermitsState state = requireNonNull(details.state());
        return Json.object(
                "used", state.used(),
                "limits", details.row().permits().map(PermitsInUse::limits).orElse(List.of()),
                "waiting", state.waiting(),
                "waiters", details.row().waiters(),
                "queue", LockJson.queue(details.row()),
                "holders",
                        state.holds().stream()
                                .map(hold -> Json.object(
                                        "holder", hold.holder(),
                                        "title", hold.title(),
                                        "permits", hold.permits(),
                                        "remainingMillis", hold.remaining().toMillis(),
                                        "fencingToken", Long.toString(hold.fencingToken())))
                                .toList());
    }

    private static String token(LockState state) {
        return Long.toString(state.fencingToken().orElseThrow());
    }
}
