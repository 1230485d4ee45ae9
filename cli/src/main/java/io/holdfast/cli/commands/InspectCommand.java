package io.holdfast.cli.commands;

import io.holdfast.Leadership;
import io.holdfast.LockClient;
import io.holdfast.LockState;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Shell;
import io.holdfast.cli.console.Version;
import io.holdfast.cli.view.LockDetails;
import io.holdfast.cli.view.PoolDetails;
import io.holdfast.cli.view.PoolState;
import io.holdfast.cli.view.PoolState.Kind;
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
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import java.util.function.Function;
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
            "Also shows permits and the read-write lock of that name, if they are held or waited for. permits:NAME and"
                    + " read-write:NAME mean these alone.",
            ""
        },
        footer = {
            "",
            "--json prints one line with always the same fields: name, locked, holder (null if the lock is free),"
                    + " remainingMillis (0 if the lock is free, null if its key never expires), fencingToken (the"
                    + " smallest of this hold, as a string, because it needs 63 bits; null if the store does not know"
                    + " it), waitingClients, holderTitle, heldMillis, renewed, thread, flags, waiters, queue, permits"
                    + " (null without any; used, limits, waiting, waiters, queue, holders), readWrite (null without any; waiting,"
                    + " waiters, queue, holders)."
        })
public final class InspectCommand implements Callable<Integer> {

    private final Io io;

    @Mixin
    private final StoreOption store = new StoreOption();

    @Option(names = "--json", description = "Print one line of JSON.")
    private boolean json;

    @Parameters(paramLabel = "NAME", description = "The name of the lock, the permits or the read-write lock.")
    private String name = "";

    public InspectCommand(Io io) {
        this.io = io;
    }

    @Override
    public Integer call() throws InterruptedException {
        Arguments.checkName(name);
        LockState state;
        LockPicture picture;
        List<PoolState> looks;
        try (LockClient client = store.viewer().build()) {
            picture = Watching.look(new LockWatch(client), List.of(name), name::equals, io);
            state = client.inspect(name);
            looks = Pool.meantBy(client, name).stream().map(Pool::look).toList();
        }
        List<PoolDetails> pools = looks.stream()
                .map(look -> details(picture, look))
                .flatMap(Optional::stream)
                .toList();
        Optional<LockRow> lock = picture.lock(name).filter(row -> !row.isPool());
        if (json) {
            io.out().println(json(state, lock, pools));
            return ExitCode.OK;
        }
        boolean lockToo =
                pools.isEmpty() || lock.filter(InspectCommand::isInUse).isPresent();
        if (lockToo) {
            lock.ifPresent(row ->
                    new LockDetails(picture, row, store.forShell()).lines().forEach(io.out()::println));
        }
        boolean isFirst = !lockToo;
        for (PoolDetails details : pools) {
            if (!isFirst) {
                io.out().println();
            }
            isFirst = false;
            details.lines().forEach(io.out()::println);
        }
        if (pools.isEmpty() && lock.filter(InspectCommand::isInUse).isEmpty()) {
            picture.lock(Leadership.LOCK_PREFIX + name)
                    .filter(InspectCommand::isInUse)
                    .ifPresent(this::pointToLeadership);
        }
        return ExitCode.OK;
    }

    /** Somebody who runs {@code holdfast leader NAME} looks for that name. */
    private void pointToLeadership(LockRow leadership) {
        io.out().println();
        io.out()
                .println("There is a leadership of this name: holdfast inspect " + store.forShell()
                        + Shell.word(leadership.name()));
    }

    /** Returns what is known; empty if nobody holds or waits, and the user did not ask for that kind. */
    private Optional<PoolDetails> details(LockPicture picture, PoolState look) {
        Optional<LockRow> row = picture.lock(look.shownName()).filter(LockRow::isPool);
        // Without a card yet, only the store knows of it.
        return look.isUsed() || look.waiting() > 0 || row.isPresent() || Pool.isExplicit(name)
                ? Optional.of(new PoolDetails(
                        row.orElseGet(() -> PoolDetails.unknown(look.kind(), look.name())), look, store.forShell()))
                : Optional.empty();
    }

    private static boolean isInUse(LockRow lock) {
        return lock.holder().isPresent() || lock.waiters() > 0;
    }

    /**
     * The first six are what the store said. The rest may be of another holder, if the lock changed hands in between.
     */
    private static String json(LockState state, Optional<LockRow> row, List<PoolDetails> pools) {
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
                "permits", pool(pools, Kind.PERMITS, InspectCommand::permits),
                "readWrite", pool(pools, Kind.READ_WRITE, InspectCommand::readWrite)));
    }

    private static @Nullable Map<String, @Nullable Object> pool(
            List<PoolDetails> pools, Kind kind, BiFunction<LockRow, PoolState, Map<String, @Nullable Object>> shown) {
        return pools.stream()
                .filter(pool -> pool.state() != null && pool.state().kind() == kind)
                .findFirst()
                .map(pool -> shown.apply(pool.row(), Objects.requireNonNull(pool.state())))
                .orElse(null);
    }

    private static Map<String, @Nullable Object> permits(LockRow row, PoolState state) {
        return Json.object(
                "used", state.used(),
                "limits", row.permits().map(PermitsInUse::limits).orElse(List.of()),
                "waiting", state.waiting(),
                "waiters", row.waiters(),
                "queue", LockJson.queue(row),
                "holders", holders(state, "permits", PoolState.Hold::permits));
    }

    private static Map<String, @Nullable Object> readWrite(LockRow row, PoolState state) {
        return Json.object(
                "waiting", state.waiting(),
                "waiters", row.waiters(),
                "queue", LockJson.queue(row),
                "holders", holders(state, "mode", hold -> hold.isWriter() ? "write" : "read"));
    }

    /** Returns the holds, each with what only this kind of pool has. */
    private static List<Map<String, @Nullable Object>> holders(
            PoolState state, String own, Function<PoolState.Hold, Object> value) {
        return state.holds().stream()
                .map(hold -> Json.object(
                        "holder",
                        hold.holder(),
                        "title",
                        hold.title(),
                        own,
                        value.apply(hold),
                        "remainingMillis",
                        hold.remaining().toMillis(),
                        "fencingToken",
                        Long.toString(hold.fencingToken())))
                .toList();
    }

    private static String token(LockState state) {
        return Long.toString(state.fencingToken().orElseThrow());
    }
}
