package io.holdfast.demo;

import io.holdfast.cli.Main;
import io.holdfast.cli.console.Io;
import java.util.List;

/** The command {@code holdfast} of a checkout: with {@code demo} and {@code torture} beside the published commands. */
public final class Launcher {

    private Launcher() {}

    public static void main(String[] args) {
        // Not a plain return: threads of a store's driver must not keep the process alive.
        System.exit(run(Io.system(), args));
    }

    static int run(Io io, String... args) {
        return Main.run(io, List.of(new DemoCommand(io), new TortureCommand(io)), args);
    }
}
