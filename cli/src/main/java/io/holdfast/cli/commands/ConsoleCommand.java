package io.holdfast.cli.commands;

import io.holdfast.LockClient;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.cli.page.PageServer;
import io.holdfast.console.web.ConsoleHandler;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast console}. */
@Command(
        name = "console",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisHeading = "%nUsage: ",
        descriptionHeading = "%n",
        header = "Show all locks on a page for browsers on this machine.",
        description = {
            "Prints the URL of the page and serves it on 127.0.0.1 until it is stopped. The URL contains a random token:"
                    + " keep it secret. The store is read while a browser shows the page.",
            ""
        },
        footer = {"", "From another machine: ssh -L 8099:127.0.0.1:8099 HOST holdfast console --port 8099"})
public final class ConsoleCommand implements Callable<Integer> {

    private static final int PORT_MAX = 65_535;

    private final Io io;

    @Mixin
    private final StoreOption store = new StoreOption();

    @Option(names = "--port", paramLabel = "PORT", description = "The port of the page; by default any free one.")
    private int port;

    @Option(
            names = "--allow-release",
            description = "Let the page release locks by force. By default it only shows them.")
    private boolean isReleaseAllowed;

    public ConsoleCommand(Io io) {
        this.io = io;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (port < 0 || port > PORT_MAX) {
            throw new CliException(ExitCode.USAGE, "--port: " + port + " (expected: at most " + PORT_MAX + ")");
        }
        try (LockClient client = store.viewer().build();
                ConsoleHandler handler = new ConsoleHandler(client, isReleaseAllowed);
                PageServer server = start(handler)) {
            io.out().println(server.url());
            io.out().flush();
            new CountDownLatch(1).await(); // until a signal ends the process
        }
        return ExitCode.OK;
    }

    private PageServer start(ConsoleHandler handler) {
        try {
            return PageServer.start(handler, port);
        } catch (IOException e) {
            throw new CliException(
                    ExitCode.USAGE, "--port: " + port + " cannot be used on 127.0.0.1: " + e.getMessage(), e);
        }
    }
}
