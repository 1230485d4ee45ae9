package io.holdfast.cli.commands;

import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.cli.process.Terminal;
import io.holdfast.cli.screen.Key;
import io.holdfast.cli.screen.LiveScreen;
import io.holdfast.cli.screen.Output;
import io.holdfast.cli.view.TopModel;
import io.holdfast.console.LockPicture;
import io.holdfast.console.LockWatch;
import io.holdfast.console.json.Json;
import io.holdfast.console.json.LockJson;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast top}. */
@Command(
        name = "top",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisHeading = "%nUsage: ",
        descriptionHeading = "%n",
        header = "Watch all locks, the longest waits first.",
        description = {
            "On a terminal it is drawn again and again until q is pressed; ? lists the keys. Elsewhere it prints one"
                    + " picture and ends.",
            ""
        },
        footer = {"", "--json prints one picture, as ls --json does."})
public final class TopCommand implements Callable<Integer> {

    private static final Duration INTERVAL_MIN = Duration.ofMillis(200);
    private static final Duration KEYS = Duration.ofMillis(200);

    private final Io io;

    @Mixin
    private final StoreOption store = new StoreOption();

    @Option(names = "--json", description = "Print one picture as a line of JSON.")
    private boolean json;

    @Option(
            names = "--interval",
            paramLabel = "TIME",
            defaultValue = "2s",
            converter = DurationConverter.class,
            description = "How often to look; by default ${DEFAULT-VALUE}. Clients say something new every 5 s.")
    private Duration interval = Duration.ZERO;

    public TopCommand(Io io) {
        this.io = io;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Arguments.checkInterval(interval, INTERVAL_MIN);
        try (LockClient client = store.viewer().build()) {
            LockWatch watch = new LockWatch(client);
            if (json) {
                LockPicture picture = Watching.look(watch, List.of(), name -> true, io);
                io.out().println(Json.text(LockJson.of(picture, picture.locks())));
            } else if (Terminal.isInteractive()) {
                live(watch, new TopModel(client.describeStore(), store.forShell()));
            } else {
                TopModel once = new TopModel(client.describeStore(), store.forShell());
                once.show(Watching.look(watch, List.of(), name -> true, io));
                once.wholeFrame().forEach(io.out()::println);
            }
        }
        return ExitCode.OK;
    }

    /** Looks on a thread of its own, so that keys work while a store does not answer. */
    private void live(LockWatch watch, TopModel top) throws IOException, InterruptedException {
        boolean colours = Output.of(io).colours();
        ExecutorService looking = Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task, "holdfast-top");
            thread.setDaemon(true);
            return thread;
        });
        try (LiveScreen screen = LiveScreen.open()) {
            Future<LockPicture> look = looking.submit(() -> watch.look());
            long due = System.nanoTime() + interval.toNanos();
            while (true) {
                if (look.isDone() && System.nanoTime() - due >= 0) {
                    look = looking.submit(() -> watch.look());
                    due = System.nanoTime() + interval.toNanos();
                }
                screen.show(top.frame(screen.width(), screen.height(), colours));
                Key key = screen.key(KEYS);
                if (key != null && !top.press(key)) {
                    return;
                }
                if (look.isDone()) {
                    take(look, top);
                }
            }
        } finally {
            looking.shutdownNow();
        }
    }

    private static void take(Future<LockPicture> look, TopModel top) throws InterruptedException {
        try {
            top.show(look.get());
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof LockStoreException away)) {
                throw new IllegalStateException(e.getCause());
            }
            top.fail(String.valueOf(away.getMessage()));
        }
    }
}
