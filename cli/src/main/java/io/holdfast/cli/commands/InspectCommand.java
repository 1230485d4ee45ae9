package io.holdfast.cli.commands;

import io.holdfast.LockClient;
import io.holdfast.LockState;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.cli.view.LockDetails;
import io.holdfast.console.Holder;
import io.holdfast.console.LockPicture;
import io.holdfast.console.LockRow;
import io.holdfast.console.LockWatch;
import io.holdfast.console.json.Json;
import io.holdfast.console.json.LockJson;
import java.time.Duration;
import java.util.List;
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
            ""
        },
        footer = {
            "",
            "--json prints one line with always the same fields: name, locked, holder (null if the lock is free),"
                    + " remainingMillis (0 if the lock is free, null if its key never expires), fencingToken (the"
                    + " smallest of this hold, as a string, because it needs 63 bits; null if the store does not know"
                    + " it), waitingClients, holderTitle, heldMillis, renewed, thread, flags, waiters, queue."
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
    public Integer call() throws InterruptedException {
        Arguments.checkName(name);
        LockState state;
        LockPicture picture;
        try (LockClient client = store.viewer().build()) {
            picture = Watching.look(new LockWatch(client), List.of(name), name::equals, io);
            state = client.inspect(name);
        }
        LockRow lock = picture.lock(name).orElseThrow();
        if (json) {
            io.out().println(json(state, lock));
        } else {
            new LockDetails(picture, lock, store.forShell()).lines().forEach(io.out()::println);
        }
        return ExitCode.OK;
    }

    /**
     * The first six are what the store said. The rest may be of another holder, if the lock changed hands in between.
     */
    private static String json(LockState state, LockRow lock) {
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
                "queue", LockJson.queue(lock)));
    }

    private static String token(LockState state) {
        return Long.toString(state.fencingToken().orElseThrow());
    }
}
