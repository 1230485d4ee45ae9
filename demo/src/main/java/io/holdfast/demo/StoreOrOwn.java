package io.holdfast.demo;

import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.process.Terminal;
import java.io.UncheckedIOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option {@code --store} of commands that start servers of their own without it. */
final class StoreOrOwn {

    @Option(
            names = "--store",
            paramLabel = "URI",
            description =
                    "Use this store, for example redis://127.0.0.1:6379, and leave its servers alone. The lock names"
                            + " are random, and what is written expires. Without it: servers of its own.")
    private @Nullable String store;

    /**
     * The store to use, or null for servers of its own.
     *
     * @param ownServers the option that was given and asks for certain own servers, or null
     */
    @Nullable
    String given(@Nullable String ownServers) {
        if (store == null) {
            return null;
        }
        if (ownServers != null) {
            throw new CliException(
                    ExitCode.USAGE,
                    "--store and " + ownServers + " exclude each other (expected: your store, or servers of its own)");
        }
        if (store.strip().startsWith("memory:")) {
            throw new CliException(
                    ExitCode.USAGE,
                    "--store: " + store + " lives within one process, and this takes several"
                            + " (expected: a store with a server, such as redis://127.0.0.1:6379)");
        }
        return store.strip();
    }

    /** Starts own servers, and tells a person, as that takes seconds; fails with a sentence if it is impossible here. */
    static <S> S start(Io io, String what, Supplier<S> launch) {
        if (Terminal.isInteractive()) {
            io.err().println("Starting its own " + what + "…");
        }
        try {
            return launch.get();
        } catch (IllegalStateException | UncheckedIOException e) {
            throw new CliException(
                    ExitCode.STORE_UNAVAILABLE,
                    "no " + what + " can be run here: " + e.getMessage() + " (--store takes yours)",
                    e);
        }
    }
}
