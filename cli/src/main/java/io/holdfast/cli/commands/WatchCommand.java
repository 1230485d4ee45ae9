package io.holdfast.cli.commands;

import io.holdfast.LockClient;
import io.holdfast.LockState;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.cli.view.LockChanges;
import io.holdfast.cli.view.PoolChanges;
import io.holdfast.cli.view.PoolState;
import io.holdfast.cli.view.PoolState.Kind;
import io.holdfast.console.json.Json;
import io.holdfast.spi.Names;
import java.time.Duration;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
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
                    + " between two questions is not seen. permits:NAME means permits and read-write:NAME a read-write lock,"
                    + " and so does NAME if these are held and the lock is free.",
            ""
        },
        footer = {
            "",
            "--json prints a line for each change: time, name, event (free, held, acquired, released, lost, token,"
                    + " waiting), holder, holderTitle, fencingToken (a string), remainingMillis, waitingClients; for"
                    + " permits also permits (of this holder) and used, and waiting instead of waitingClients; for a"
                    + " read-write lock mode (read, write) instead of permits."
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

    @Parameters(paramLabel = "NAME", description = "The name of the lock, the permits or the read-write lock.")
    private String name = "";

    public WatchCommand(Io io) {
        this.io = io;
    }

    @Override
    public Integer call() throws InterruptedException {
        Arguments.checkName(name);
        Arguments.checkInterval(interval, INTERVAL_MIN);
        try (LockClient client = store.viewer().build()) {
            Pool pool = pool(client);
            if (pool == null) {
                watchLock(client);
            } else {
                watchPool(pool);
            }
        }
        return ExitCode.OK;
    }

    /** Returns what the name means: what is written so, or is held while the lock is free; null for the lock. */
    private @Nullable Pool pool(LockClient client) {
        return Pool.meantBy(client, name).stream()
                .filter(pool -> Pool.isExplicit(name)
                        || (!client.inspect(name).isLocked() && pool.look().isUsed()))
                .findFirst()
                .orElse(null);
    }

    private void watchLock(LockClient client) throws InterruptedException {
        LockChanges changes = new LockChanges();
        // A reader that is gone (| head) ends the watch.
        while (!io.out().checkError()) {
            LockState state = client.inspect(name);
            changes.next(state, System.nanoTime()).forEach(change -> print(change, state));
            Thread.sleep(interval.toMillis());
        }
    }

    private void watchPool(Pool pool) throws InterruptedException {
        PoolChanges changes = new PoolChanges();
        while (!io.out().checkError()) {
            PoolState state = pool.look();
            changes.next(state, System.nanoTime()).forEach(change -> print(change, state));
            Thread.sleep(interval.toMillis());
        }
    }

    private void print(PoolChanges.Change change, PoolState state) {
        PoolState.Hold hold = change.hold();
        if (json) {
            print(Json.object(
                    "time",
                    now(),
                    "name",
                    state.shownName(),
                    "event",
                    change.event(),
                    "holder",
                    hold == null ? null : hold.holder(),
                    "holderTitle",
                    hold == null ? null : hold.title(),
                    "fencingToken",
                    hold == null ? null : Long.toString(hold.fencingToken()),
                    "remainingMillis",
                    hold == null ? null : hold.remaining().toMillis(),
                    state.kind() == Kind.PERMITS ? "permits" : "mode",
                    hold == null ? null : share(state, hold),
                    "used",
                    state.kind() == Kind.PERMITS ? state.used() : state.holds().size(),
                    "waiting",
                    state.waiting()));
        } else {
            print(change.text());
        }
    }

    private static Object share(PoolState state, PoolState.Hold hold) {
        return state.kind() == Kind.PERMITS ? hold.permits() : hold.isWriter() ? "write" : "read";
    }

    private void print(LockChanges.Change change, LockState state) {
        if (json) {
            print(Json.object(
                    "time", now(),
                    "name", name,
                    "event", change.event(),
                    "holder", state.holder().orElse(null),
                    "holderTitle", state.holderTitle().orElse(null),
                    "fencingToken",
                            state.fencingToken().isPresent()
                                    ? Long.toString(state.fencingToken().getAsLong())
                                    : null,
                    "remainingMillis", state.remaining().map(Duration::toMillis).orElse(null),
                    "waitingClients", state.waitingClients()));
        } else {
            print(change.text());
        }
    }

    private static String now() {
        return OffsetDateTime.now(ZoneId.systemDefault()).toString();
    }

    private void print(Map<String, @Nullable Object> line) {
        io.out().println(Json.text(line));
        io.out().flush();
    }

    private void print(String text) {
        io.out().println(CLOCK.format(LocalTime.now(ZoneId.systemDefault())) + "  " + Names.printable(text));
        io.out().flush();
    }
}
